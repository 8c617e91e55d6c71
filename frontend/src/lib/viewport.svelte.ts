// How much room there is. Below `narrow` one column shows at a time; below `medium` the right column
// is a sheet.
import { MediaQuery } from "svelte/reactivity";

export const narrow = new MediaQuery("max-width: 760px");
export const medium = new MediaQuery("max-width: 1080px");
