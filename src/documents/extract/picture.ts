import { imageSize } from 'image-size';
import UTIF from 'utif2';
import { ExtractFailed, type Extraction } from './job.js';

/** Recognizes the text of a picture. */
export const extractPicture = async (bytes: Buffer, extraction: Extraction): Promise<void> => {
  const { width, height } = imageSize(bytes);
  if (width * height > extraction.job.limits.pixels) throw tooLarge(width, height, extraction);
  extraction.total(1);
  if (extraction.skip()) return;
  addRecognized(extraction, await extraction.recognize(await asPng(bytes)));
};

/** Recognizes the text of each page of a TIFF file. */
export const extractTiff = async (bytes: Buffer, extraction: Extraction): Promise<void> => {
  const pages = UTIF.decode(bytes);
  if (pages.length === 0) throw new ExtractFailed('damaged', 'The file holds no picture');
  extraction.total(pages.length);
  for (const [index, page] of pages.entries()) {
    if (extraction.skip()) continue;
    const { width, height } = sizeOf(page);
    if (width * height > extraction.job.limits.pixels) {
      extraction.note(`Page ${index + 1} is too large: ${width} × ${height} pixels.`);
      if (!extraction.add('')) break;
      continue;
    }
    UTIF.decodeImage(bytes, page);
    const png = await pngOf(UTIF.toRGBA8(page), page);
    if (!addRecognized(extraction, await extraction.recognize(png))) break;
  }
};

const addRecognized = (
  extraction: Extraction,
  recognized: Awaited<ReturnType<Extraction['recognize']>>,
): boolean => (recognized ? extraction.add(recognized.text, recognized) : extraction.add(''));

const tooLarge = (width: number, height: number, { job }: Extraction): ExtractFailed =>
  new ExtractFailed(
    'too_large',
    `The picture has ${width} × ${height} pixels; at most ${job.limits.pixels} are read`,
  );

/** The size that the tags of a page of a TIFF file state (TIFF 6.0, tags 256 and 257). */
const sizeOf = (page: UTIF.IFD): { width: number; height: number } => ({
  width: Number([page.t256].flat()[0] ?? 0),
  height: Number([page.t257].flat()[0] ?? 0),
});

/** Returns the picture as PNG on white, since transparent ground is black to the recognition. */
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

const pngOf = async (rgba: Uint8Array, { width, height }: UTIF.IFD): Promise<Buffer> => {
  const { createCanvas, ImageData } = await import('@napi-rs/canvas');
  const canvas = createCanvas(width, height);
  const pixels = new ImageData(new Uint8ClampedArray(rgba), width, height);
  canvas.getContext('2d').putImageData(pixels, 0, 0);
  return canvas.encode('png');
};
