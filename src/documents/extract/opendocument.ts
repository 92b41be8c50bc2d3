import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { type ArchiveFiles, checkArchive, fileIn, listArchive } from './archive.js';
import { ExtractFailed, type Extraction } from './job.js';
import { readTitle } from './xmltitle.js';
import { walkXml, type XmlVisitor } from './xmlwalk.js';

const CONTENT = 'content.xml';
export const STYLES = 'styles.xml';
const PROPERTIES = 'meta.xml';
const MANIFEST = 'META-INF/manifest.xml';

/**
 * ODF 1.3, part 2. A flat file has its styles and its content in the same XML (part 3, 3.1.2).
 * Throws ExtractFailed, also if the file is encrypted.
 */
export const openDocument = async (
  bytes: Buffer,
  extraction: Extraction,
): Promise<ArchiveFiles> => {
  const files = await openFiles(bytes, extraction);
  const properties = await fileIn(files, PROPERTIES)?.();
  if (properties) extraction.title(await readTitle(properties, 'meta'));
  return files;
};

const openFiles = async (bytes: Buffer, { job }: Extraction): Promise<ArchiveFiles> => {
  if (bytes.subarray(0, 2).toString('latin1') !== 'PK') {
    const open = async (): Promise<Readable> => Readable.from([bytes]);
    return new Map([CONTENT, STYLES, PROPERTIES].map((name) => [name, open]));
  }
  await checkArchive(bytes, job.limits.unpackedBytes);
  const files = await listArchive(bytes);
  const manifest = await fileIn(files, MANIFEST)?.();
  if (manifest && (await text(manifest)).includes('encryption-data')) {
    throw new ExtractFailed('password_needed', 'The file is password-protected');
  }
  return files;
};

export const walkContent = async (files: ArchiveFiles, visitor: XmlVisitor): Promise<void> => {
  const open = fileIn(files, CONTENT);
  if (!open) throw new ExtractFailed('damaged', `${CONTENT} is missing from the file`);
  await walkXml(await open(), visitor);
};
