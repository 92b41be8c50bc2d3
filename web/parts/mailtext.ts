import { visibleText } from './json.js';

export const subjectText = ({ subject }: { subject: string }): string =>
  visibleText(subject) || '(no subject)';

/** Rounded up: `12 KB`. */
export const fileSize = ({ bytes }: { bytes: number }): string => {
  if (bytes < 1024) return `${bytes} bytes`;
  if (bytes < 1024 * 1024) return `${Math.ceil(bytes / 1024)} KB`;
  return `${(bytes / 1024 / 1024).toFixed(1)} MB`;
};

export const addressNames = (all: { name: string; address: string }[]): string =>
  visibleText(all.map(({ name, address }) => `${name} <${address}>`.trim()).join(', '));
