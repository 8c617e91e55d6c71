import type { FakeHost } from "../src/host/fake/host";

declare global {
  interface Window {
    fake?: FakeHost;
  }
}
