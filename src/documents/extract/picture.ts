import { imageSize } from 'image-size';
import { ExtractFailed, type Extraction } from './job.js';

export const extractPicture = async (bytes: Buffer, extraction: Extraction): Promise<void> => {
  const { width, height } = imageSize(bytes);
  if (width * height > extraction.job.limits.pixels) throw tooLarge(width, height, extraction);
  extraction.total(1);
  if (extraction.skip()) return;
  addRecognized(extraction, await extraction.recognize(await asPng(bytes)));
};

export const addRecognized = (
  extraction: Extraction,
  recognized: Awaited<ReturnType<Extraction['recognize']>>,
): boolean => (recognized ? extraction.add(recognized.text, recognized) : extraction.addUnread());

const tooLarge = (width: number, height: number, { job }: Extraction): ExtractFailed =>
  new ExtractFailed(
    'too_large',
    `The image has ${width} × ${height} pixels. The maximum is ${job.limits.pixels} pixels`,
  );

/** On white, because text recognition treats a transparent background as black. */
const asPng = async (bytes: Buffer): Promise<Buffer> => {
  const { createCanvas, loadImage } = await import('@napi-rs/canvas');
  const image = await loadImage(bytes);
  const canvas = createCanvas(image.width, image.height);
  const context = canvas.getContext('2d');
  context.fillStyle = 'white';
  context.fillRect(0, 0, image.width, image.height);
  context.drawImage(image, 0, 0);
  return canvas.encode('png');
};
