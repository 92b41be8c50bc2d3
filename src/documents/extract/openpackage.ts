import { posix } from 'node:path';
import {
  type ArchiveFiles,
  checkArchive,
  fileIn,
  listArchive,
  refuseEncrypted,
} from './archive.js';
import { ExtractFailed, type Extraction } from './job.js';
import { walkXml, type XmlAttributes, type XmlVisitor } from './xmlwalk.js';

/** A part of a file of Office Open XML that another one names (ECMA-376-2, relationships). */
export interface Relation {
  /** The end of the address of its type. */
  type: string;
  path: string;
}

/** An opened file of Office Open XML. */
interface OpenPackage {
  files: ArchiveFiles;
  /** The path of its main part, which is a text, a workbook or a presentation. */
  main: string;
  /** The parts that the main one names, by their ids. */
  relations: ReadonlyMap<string, Relation>;
}

/** Opens a file of Office Open XML (ECMA-376-2). Throws ExtractFailed. */
export const openPackage = async (bytes: Buffer, { job }: Extraction): Promise<OpenPackage> => {
  refuseEncrypted(bytes);
  await checkArchive(bytes, job.limits.unpackedBytes);
  const files = await listArchive(bytes);
  const main = partOf(await relationsOf(files, ''), 'officeDocument');
  if (main === null) {
    const sentence = 'The file is not a complete office document';
    throw new ExtractFailed('damaged', sentence);
  }
  return { files, main, relations: await relationsOf(files, main) };
};

/** Returns the relations of a part by their ids; those of the whole file for ''. */
export const relationsOf = async (
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

/** Returns the path of the first part of a type; null if there is none. */
export const partOf = (relations: ReadonlyMap<string, Relation>, wanted: string): string | null =>
  [...relations.values()].find(({ type }) => type === wanted)?.path ?? null;

/** Reads the XML of a file of the archive. Throws ExtractFailed if it is not there. */
export const walkFile = async (
  files: ArchiveFiles,
  path: string,
  visitor: XmlVisitor,
): Promise<void> => {
  const open = fileIn(files, path);
  if (!open) throw new ExtractFailed('damaged', `${path.slice(0, 100)} is missing from the file`);
  await walkXml(await open(), visitor);
};
