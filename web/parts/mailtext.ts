import { visibleText } from './json.js';

/** Returns the subject of an e-mail as it is shown. */
export const subjectText = ({ subject }: { subject: string }): string =>
  visibleText(subject) || '(no subject)';

/** Returns the size of a file, rounded up: `12 KB`. */
export const fileSize = ({ bytes }: { bytes: number }): string => {
  if (bytes < 1024) return `${bytes} bytes`;
  if (bytes < 1024 * 1024) return `${Math.ceil(bytes / 1024)} KB`;
  return `${(bytes / 1024 / 1024).toFixed(1)} MB`;
};

/** Returns people with their addresses as they are shown. */
export const addressNames = (all: { name: string; address: string }[]): string =>
  visibleText(all.map(({ name, address }) => `${name} <${address}>`.trim()).join(', '));
