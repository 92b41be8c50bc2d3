import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Page } from 'playwright-core';
import { openBrowser } from '../accounts/passkeys/browser.js';

const execute = promisify(execFile);

const CHROMIUM = '/usr/bin/chromium-headless-shell';
const OFFICE = '/usr/bin/soffice';
const QPDF = '/usr/bin/qpdf';
/** The library of LibreOffice for presentations. */
const IMPRESS = '/usr/lib/libreoffice/program/libsdlo.so';
/** A font with Japanese characters. */
const GOTHIC = '/usr/share/fonts/opentype/ipafont-gothic/ipag.ttf';

/** Options for tests whose files are made by real programs. */
export const withPrograms = {
  skip: ![CHROMIUM, OFFICE, IMPRESS, QPDF].every((path) => existsSync(path)),
};

/** Options for those that need a font with Japanese characters as well. */
export const withJapaneseFont = {
  ...withPrograms,
  skip: withPrograms.skip || !existsSync(GOTHIC),
};

/** The programs that make files for the tests: Chromium, LibreOffice and qpdf. */
export const openMaker = async () => {
  const folder = await mkdtemp(join(tmpdir(), 'adjutant-files-'));
  const browser = await openBrowser();
  let made = 0;

  const withPage = async <T>(
    html: string,
    use: (page: Page) => Promise<T>,
    deviceScaleFactor = 1,
  ): Promise<T> => {
    const viewport = { width: 1240, height: 1754 };
    const context = await browser.newContext({ viewport, deviceScaleFactor });
    try {
      const page = await context.newPage();
      await page.setContent(html);
      return await use(page);
    } finally {
      await context.close();
    }
  };
  const run = async (
    content: Uint8Array,
    endings: { from: string; to: string },
    command: (from: string, to: string) => string[],
  ): Promise<Buffer> => {
    const name = join(folder, `file${made++}`);
    const [from, to] = [`${name}.${endings.from}`, `${name}.${endings.to}`];
    await writeFile(from, content);
    const [program = '', ...args] = command(from, to);
    await execute(program, args, { env: { ...process.env, HOME: folder } });
    return readFile(to);
  };

  return {
    pdf: (html: string): Promise<Buffer> =>
      withPage(html, (page) => page.pdf({ format: 'A4', printBackground: true })),
    /** A picture of an A4 page at 150 dpi. */
    picture: (html: string): Promise<Buffer> => withPage(html, (page) => page.screenshot()),
    /** A picture of an A4 page at 300 dpi: 2480 × 3508 pixels. */
    scan: (html: string): Promise<Buffer> => withPage(html, (page) => page.screenshot(), 2),
    /** Converts a file by LibreOffice: `{ from: 'fodt', to: 'docx' }`. */
    convert: (content: Uint8Array, endings: { from: string; to: string }): Promise<Buffer> =>
      run(content, endings, (from) => [
        ...[OFFICE, '--headless', '--convert-to', endings.to, '--outdir', folder, from],
      ]),
    /** Encrypts a PDF with a password, or turns its pages. */
    qpdf: (content: Uint8Array, ...options: string[]): Promise<Buffer> =>
      run(content, { from: 'in.pdf', to: 'out.pdf' }, (from, to) => [QPDF, ...options, from, to]),
    close: async (): Promise<void> => {
      await browser.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
};

export type Maker = Awaited<ReturnType<typeof openMaker>>;

/** A text document for LibreOffice (ODF 1.3, flat) with these paragraphs. */
export const flatText = (...paragraphs: string[]): Buffer =>
  Buffer.from(`<?xml version="1.0" encoding="UTF-8"?>
<office:document xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0"
  xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0" office:version="1.3"
  office:mimetype="application/vnd.oasis.opendocument.text"><office:body><office:text>
${paragraphs.map((text) => `<text:p>${text}</text:p>`).join('\n')}
</office:text></office:body></office:document>`);

/** A presentation for LibreOffice (ODF 1.3, flat) with a slide of each of these lists of lines. */
export const flatSlides = (...slides: string[][]): Buffer =>
  Buffer.from(`<?xml version="1.0" encoding="UTF-8"?>
<office:document xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0"
  xmlns:draw="urn:oasis:names:tc:opendocument:xmlns:drawing:1.0"
  xmlns:svg="urn:oasis:names:tc:opendocument:xmlns:svg-compatible:1.0"
  xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0" office:version="1.3"
  office:mimetype="application/vnd.oasis.opendocument.presentation"><office:body><office:presentation>
${slides.map((lines, at) => `<draw:page draw:name="page${at}">${lines.map(flatBox).join('')}</draw:page>`).join('\n')}
</office:presentation></office:body></office:document>`);

const flatBox = (text: string, line: number): string =>
  `<draw:frame svg:width="20cm" svg:height="2cm" svg:x="2cm" svg:y="${2 + 3 * line}cm"><draw:text-box>
<text:p>${text}</text:p></draw:text-box></draw:frame>`;

/** The share of the characters of `wanted` that are found in `text` in their order. */
export const share = (text: string, wanted: string): number => {
  let at = 0;
  let found = 0;
  const flat = text.replace(/\s+/g, ' ');
  for (const character of wanted) {
    const next = flat.indexOf(character, at);
    if (next < 0 || next - at > 3) continue;
    at = next + 1;
    found++;
  }
  return found / wanted.length;
};
