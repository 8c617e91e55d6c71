export { default as AttachButton } from "./AttachButton.svelte";
export { Attachments, provideAttachments, useAttachments, type Sent } from "./attached.svelte";
export { default as MessagePicture } from "./MessagePicture.svelte";
export { dragsFiles, pastedFiles, picturesOnClipboard } from "./offered";
export { default as PictureStrip } from "./PictureStrip.svelte";
export { provideShownPictures, ShownPictures, useShownPictures } from "./shown";
export { default as Thumb } from "./Thumb.svelte";
