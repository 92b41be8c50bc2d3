import { text } from 'node:stream/consumers';
import { type ArchiveFiles, checkArchive, fileIn, listArchive } from './archive.js';
import { ExtractFailed, type Extraction } from './job.js';
import { walkXml, type XmlVisitor } from './xmlwalk.js';

const CONTENT = 'content.xml';
const MANIFEST = 'META-INF/manifest.xml';

/** ODF 1.3, part 2. Throws ExtractFailed, also if the file is encrypted. */
export const openDocument = async (bytes: Buffer, { job }: Extraction): Promise<ArchiveFiles> => {
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
