import { imageSize } from 'image-size';
import type { PageSource } from './page.js';

export const imageSentence = ({ body, contentType }: PageSource): string => {
  const size = readImageSize(body);
  const type = /^image\/([\w.+-]{1,30})/i.exec(contentType)?.[1] ?? size?.type ?? 'unknown type';
  const pixels = size ? `, ${size.width} × ${size.height} pixels` : '';
  return `Image (${type})${pixels}. Text in images is not read.`;
};

const readImageSize = (body: Uint8Array) => {
  try {
    const { width, height, type } = imageSize(body);
    return { width, height, type };
  } catch {
    // The image may be incomplete or of an unknown type.
    return null;
  }
};
