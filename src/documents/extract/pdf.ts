import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import {
  getDocument,
  OPS,
  type PDFDocumentProxy,
  type PDFPageProxy,
  VerbosityLevel,
} from 'pdfjs-dist/legacy/build/pdf.mjs';
import { ExtractFailed, type Extraction } from './job.js';

const FOLDER = dirname(createRequire(import.meta.url).resolve('pdfjs-dist/package.json'));
/** Ours: a page with less text than this and with a picture is a scan. */
const LEAST_CHARS = 16;
/** The resolution for recognition. A PDF's unit is 1/72 inch. */
const DPI = 300;
const PICTURES = new Set<number>([
  OPS.paintImageXObject,
  OPS.paintInlineImageXObject,
  OPS.paintImageMaskXObject,
  OPS.paintImageXObjectRepeat,
]);

/** Extracts the text of a PDF, page by page. Pages that are scans are recognized. */
export const extractPdf = async (bytes: Buffer, extraction: Extraction): Promise<void> => {
  const document = await open(bytes, extraction);
  extraction.total(document.numPages);
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
      isEvalSupported: false,
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
      isWrong ? 'The password does not open the file' : 'The file opens with a password only',
    );
  }
};

/** Adds one page. Returns false if no further page is wanted. */
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
    const text = await textOf(page);
    if (text.trim().length >= LEAST_CHARS || !(await hasPicture(page))) return extraction.add(text);
    const picture = await render(page, extraction);
    const recognized = await extraction.recognize(picture);
    return recognized ? extraction.add(recognized.text, recognized) : extraction.add(text);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    extraction.note(`Page ${number} could not be read: ${reason.slice(0, 200)}`);
    return extraction.add('');
  } finally {
    page.cleanup();
  }
};

/** Returns the text in the order of the file, with its lines; a gap between lines is a blank line. */
const textOf = async (page: PDFPageProxy): Promise<string> => {
  const { items } = await page.getTextContent();
  let text = '';
  let last: { y: number; height: number } | null = null;
  for (const item of items) {
    if (!('str' in item)) continue;
    const y: number = item.transform[5];
    const gap = last === null ? 0 : Math.abs(last.y - y);
    if (last !== null && gap > 1.8 * last.height && text.endsWith('\n')) text += '\n';
    text += item.str;
    if (item.hasEOL) text += '\n';
    if (item.height > 0) last = { y, height: item.height };
  }
  return text;
};

const hasPicture = async (page: PDFPageProxy): Promise<boolean> => {
  const { fnArray } = await page.getOperatorList();
  return fnArray.some((operator) => PICTURES.has(operator));
};

const render = async (page: PDFPageProxy, { job }: Extraction): Promise<Buffer> => {
  const { createCanvas } = await import('@napi-rs/canvas');
  const plain = page.getViewport({ scale: 1 });
  const most = Math.sqrt(job.limits.pixels / (plain.width * plain.height));
  const viewport = page.getViewport({ scale: Math.min(DPI / 72, most) });
  const canvas = createCanvas(Math.ceil(viewport.width), Math.ceil(viewport.height));
  await page.render({ canvas: null, canvasContext: canvas.getContext('2d'), viewport }).promise;
  return canvas.encode('png');
};
