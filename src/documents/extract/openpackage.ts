import { posix } from 'node:path';
import {
  type ArchiveFiles,
  checkArchive,
  fileIn,
  listArchive,
  refuseEncrypted,
} from './archive.js';
import { ExtractFailed, type Extraction } from './job.js';
import { readTitle } from './xmltitle.js';
import { walkXml, type XmlAttributes, type XmlVisitor } from './xmlwalk.js';

/** ECMA-376-2, relationships. */
export interface Relation {
  /** Last segment of the type address. */
  type: string;
  path: string;
}

interface OpenPackage {
  files: ArchiveFiles;
  /** Path of the main part: a text, workbook or presentation. */
  main: string;
  relations: ReadonlyMap<string, Relation>;
}

export const openPackage = async (bytes: Buffer, extraction: Extraction): Promise<OpenPackage> => {
  refuseEncrypted(bytes);
  await checkArchive(bytes, extraction.job.limits.unpackedBytes);
  const files = await listArchive(bytes);
  const parts = await readRelations(files, '');
  const main = findPart(parts, 'officeDocument');
  if (main === null) {
    const sentence = 'The file is not a complete office document';
    throw new ExtractFailed('damaged', sentence);
  }
  const properties = await fileIn(files, findPart(parts, 'core-properties') ?? '')?.();
  if (properties) extraction.title(await readTitle(properties, 'coreProperties'));
  return { files, main, relations: await readRelations(files, main) };
};

/** An empty path returns the relations of the package. */
export const readRelations = async (
  files: ArchiveFiles,
  part: string,
): Promise<Map<string, Relation>> => {
  const folder = posix.dirname(`/${part}`);
  const path = posix.join(folder, '_rels', `${posix.basename(part)}.rels`).slice(1);
  const relations = new Map<string, Relation>();
  if (!fileIn(files, path)) return relations;
  const open = (name: string, { Id = '', Type = '', Target = '' }: XmlAttributes): void => {
    if (name !== 'Relationship') return;
    const target = posix.resolve(folder, Target).slice(1);
    relations.set(Id, { type: posix.basename(Type), path: target });
  };
  await walkFile(files, path, { open });
  return relations;
};

export const findPart = (relations: ReadonlyMap<string, Relation>, wanted: string): string | null =>
  [...relations.values()].find(({ type }) => type === wanted)?.path ?? null;

/** Throws ExtractFailed if the file is missing. */
export const walkFile = async (
  files: ArchiveFiles,
  path: string,
  visitor: XmlVisitor,
): Promise<void> => {
  const open = fileIn(files, path);
  if (!open) throw new ExtractFailed('damaged', `${path.slice(0, 100)} is missing from the file`);
  await walkXml(await open(), visitor);
};
