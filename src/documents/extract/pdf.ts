import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import {
  getDocument,
  type PDFDocumentProxy,
  type PDFPageProxy,
  VerbosityLevel,
} from 'pdfjs-dist/legacy/build/pdf.mjs';
import { errorReason } from '../../kernel/failure.js';
import { ExtractFailed, type Extraction, type RecognizedText } from './job.js';
import { readPageDrawing } from './pdfpictures.js';
import { pageText } from './pdftext.js';

const FOLDER = dirname(createRequire(import.meta.url).resolve('pdfjs-dist/package.json'));
/** A page with fewer letters and some drawing is treated as an image. */
const MIN_CHARS = 16;
/** An image that covers this share of a page is a scan, and a short text on it a stamp. */
const SCAN_SHARE = 0.5;
const MANY_CHARS = 1000;
const SHOWN_FILES = 10;
/** Resolution for text recognition. The PDF unit is 1/72 inch. */
const DPI = 300;
export const extractPdf = async (bytes: Buffer, extraction: Extraction): Promise<void> => {
  const document = await open(bytes, extraction);
  extraction.total(document.numPages);
  await noteParts(document, extraction);
  for (let number = 1; number <= document.numPages; number++) {
    if (extraction.skip()) continue;
    if (!(await extractPage(document, number, extraction))) break;
  }
};

const open = async (bytes: Buffer, { job }: Extraction): Promise<PDFDocumentProxy> => {
  try {
    return await getDocument({
      data: new Uint8Array(bytes),
      ...(job.password !== null && { password: job.password }),
      enableXfa: false,
      disableFontFace: true,
      useSystemFonts: false,
      maxImageSize: job.limits.pixels,
      standardFontDataUrl: join(FOLDER, 'standard_fonts/'),
      cMapUrl: join(FOLDER, 'cmaps/'),
      cMapPacked: true,
      wasmUrl: join(FOLDER, 'wasm/'),
      verbosity: VerbosityLevel.ERRORS,
    }).promise;
  } catch (error) {
    if (!(error instanceof Error && error.name === 'PasswordException')) throw error;
    const isWrong = job.password !== null;
    throw new ExtractFailed(
      'password_needed',
      isWrong ? 'The password is wrong' : 'The file is password-protected',
    );
  }
};

const noteParts = async (document: PDFDocumentProxy, extraction: Extraction): Promise<void> => {
  const { info } = await document.getMetadata().catch(() => ({ info: {} }));
  const title: unknown = Reflect.get(info, 'Title');
  if (typeof title === 'string') extraction.title(title);
  if (Reflect.get(info, 'IsXFAPresent') === true) {
    extraction.note(
      'The file has an XFA form, which is not supported. Print the file to a new PDF file first.',
    );
  }
  const files = await document.getAttachments().catch(() => null);
  const names = Object.values(Object(files)).map((file) =>
    String(Reflect.get(Object(file), 'filename')),
  );
  if (names.length === 0) return;
  const shown = names.slice(0, SHOWN_FILES).map((name) => name.slice(0, 100));
  const rest = names.length > shown.length ? ` and ${names.length - shown.length} more` : '';
  extraction.note(`${names.length} embedded files are not read: ${shown.join(', ')}${rest}.`);
};

const extractPage = async (
  document: PDFDocumentProxy,
  number: number,
  extraction: Extraction,
): Promise<boolean> => {
  const page = await document.getPage(number).catch(() => null);
  if (page === null) {
    extraction.note(`Page ${number} is damaged.`);
    return extraction.add('');
  }
  try {
    const text = await pageText(page);
    if (!(await mayHaveMore(page, text))) return extraction.add(text);
    const picture = await render(page, extraction);
    if (picture === null) return extraction.add(text);
    return addLonger(extraction, text, await extraction.recognize(picture));
  } catch (error) {
    extraction.note(`Page ${number} could not be read: ${errorReason(error).slice(0, 200)}.`);
    return extraction.add('');
  } finally {
    page.cleanup();
  }
};

/** Whether the page may show text in an image or as lines. */
const mayHaveMore = async (page: PDFPageProxy, text: string): Promise<boolean> => {
  const chars = normalizeLetters(text).length;
  if (chars >= MANY_CHARS) return false;
  const { covered, isDrawn, hasHiddenText } = await readPageDrawing(page);
  if (chars < MIN_CHARS) return covered > 0 || isDrawn;
  return covered >= SCAN_SHARE && !hasHiddenText;
};

const normalizeLetters = (text: string): string =>
  text.replace(/[^\p{L}\p{N}]+/gu, '').toLowerCase();

/** Adds the longer of both texts, with lines that it lacks from the other. */
const addLonger = (
  extraction: Extraction,
  text: string,
  recognized: RecognizedText | null,
): boolean => {
  const letters = normalizeLetters(recognized?.text ?? '');
  if (recognized === null || letters.length <= normalizeLetters(text).length) {
    return text.trim() === '' ? extraction.addUnread() : extraction.add(text);
  }
  const missing = text.split('\n').filter((line) => !letters.includes(normalizeLetters(line)));
  return extraction.add([...missing, recognized.text].join('\n'), recognized);
};

/** Returns null if the page has a single colour. */
const render = async (page: PDFPageProxy, { job }: Extraction): Promise<Buffer | null> => {
  const { createCanvas } = await import('@napi-rs/canvas');
  const plain = page.getViewport({ scale: 1 });
  const most = Math.sqrt(job.limits.pixels / (plain.width * plain.height));
  const viewport = page.getViewport({ scale: Math.min(DPI / 72, most) });
  const canvas = createCanvas(Math.ceil(viewport.width), Math.ceil(viewport.height));
  const context = canvas.getContext('2d');
  await page.render({ canvas: null, canvasContext: context, viewport }).promise;
  const { data } = context.getImageData(0, 0, canvas.width, canvas.height);
  const pixels = new Uint32Array(data.buffer, data.byteOffset, data.length / 4);
  if (pixels.every((pixel) => pixel === pixels[0])) return null;
  return canvas.encode('png');
};
