// Files in what is pasted or dropped.

/** The files that are pasted; none when it is text. A picture beside text is the text's other form. */
export function pastedFiles(data: DataTransfer | null): File[] {
  return !data || data.types.includes("text/plain") ? [] : [...data.files];
}

/** Whether files are being dragged. */
export function dragsFiles(event: DragEvent): boolean {
  return event.dataTransfer?.types.includes("Files") ?? false;
}

/**
 * Pictures on the clipboard, where a paste says nothing of them, as in WebKitGTK. None where the web view
 * does not hand them out.
 */
export async function picturesOnClipboard(): Promise<File[]> {
  try {
    const files: File[] = [];
    for (const item of await navigator.clipboard.read()) {
      const type = item.types.find((one) => one.startsWith("image/"));
      if (type) files.push(new File([await item.getType(type)], "", { type }));
    }
    return files;
  } catch {
    return [];
  }
}
