export { hideOutput, openLogFile } from "./actions";
