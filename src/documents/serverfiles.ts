import type { FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import type { Workers } from '../operations/module.js';
import { FILE_BYTES } from './contract.js';
import { MAX_SEARCHABLE } from './entry.js';
import { detectMediaType, HEAD_BYTES, MEDIA_TYPES, unsupportedReason } from './extract/kinds.js';
import { DEFAULT_LANGUAGE } from './extract/languages.js';
import { readableText } from './extract/text.js';
import { describeFailure, EXTRACT_LIMITS, extractInWorker } from './extraction.js';
import { type ArrivedFile, type Originals, receiveFile } from './originals.js';

/**
 * Files that were not read completely are read again when it changes. Increase it when files can be
 * read that could not be read before.
 */
export const READER_VERSION = 1;

export interface ServerFile {
  handle: FileHandle;
  bytes: number;
  name: string;
  userId: string;
  signal: AbortSignal;
}

export type FileText =
  | { text: string | { number: number; text: string }[]; note: string | null }
  | { failure: string };

export interface ServerFileCopy {
  sha256: string;
  /** Runs in a separate process unless the file is simple text. */
  text(): Promise<FileText>;
}

export interface UnsupportedServerFile {
  /** A predicate: the file is the subject. `null` if only the type is known to be unsupported. */
  reason: string | null;
}

/** Reads files of this machine like documents, without storing originals. */
export interface ServerFiles {
  /** Throws FileTooLarge. */
  take<T>(
    file: ServerFile,
    work: (taken: ServerFileCopy | UnsupportedServerFile) => Promise<T>,
  ): Promise<T>;
}

export class FileTooLarge extends Error {
  override name = 'FileTooLarge';
  override message = `The file is larger than ${FILE_BYTES / 1024 / 1024} MiB`;
}

interface ServerFilesDeps {
  workers: Workers;
  originals: Pick<Originals, 'openUpload' | 'removeUpload'>;
}

export const createServerFiles = (deps: ServerFilesDeps): ServerFiles => ({
  take: async (file, work) => {
    const { handle, bytes, name } = file;
    if (bytes > FILE_BYTES) throw new FileTooLarge();
    const room = Buffer.alloc(Math.min(bytes, HEAD_BYTES));
    const { bytesRead } = await handle.read(room, 0, room.length, 0);
    const head = room.subarray(0, bytesRead);
    const mediaType = await detectMediaType(head, name);
    if (mediaType === null) return work({ reason: unsupportedReason(head, name) });
    const folder = await deps.originals.openUpload();
    try {
      // The file may grow while it is copied.
      const content = handle.createReadStream({ start: 0, end: FILE_BYTES, autoClose: false });
      const arrived = await receiveFile(join(folder, 'file'), content);
      if (arrived.bytes > FILE_BYTES) throw new FileTooLarge();
      const text = (): Promise<FileText> => extractFileText(deps, file, { arrived, mediaType });
      return await work({ sha256: arrived.sha256, text });
    } finally {
      await deps.originals.removeUpload(folder);
    }
  },
});

const extractFileText = async (
  { workers }: ServerFilesDeps,
  { userId, signal }: ServerFile,
  { arrived, mediaType }: { arrived: ArrivedFile; mediaType: string },
): Promise<FileText> => {
  const simple = await simpleText(arrived, mediaType);
  if (simple !== null) return { text: simple, note: null };
  const pages: { number: number; text: string }[] = [];
  const read = { chars: 0, isCut: false };
  const { failure, notes } = await extractInWorker(workers, {
    userId,
    job: {
      path: arrived.path,
      mediaType,
      languages: [DEFAULT_LANGUAGE],
      fromPage: 1,
      password: null,
      limits: EXTRACT_LIMITS,
    },
    signal,
    take: async (line) => {
      if (!('text' in line)) return;
      read.chars += line.text.length;
      read.isCut ||= read.chars > MAX_SEARCHABLE;
      if (!read.isCut) pages.push({ number: line.page, text: line.text });
    },
  });
  if (failure) return { failure: describeFailure(failure) };
  const cut = read.isCut ? [`Only the first ${pages.length} pages can be searched.`] : [];
  return { text: pages, note: [...notes, ...cut].join(' ') || null };
};

/** Returns null unless the file is short UTF-8 text. UTF-16 has NUL bytes. */
const simpleText = async (
  { bytes, head }: ArrivedFile,
  mediaType: string,
): Promise<string | null> => {
  if (MEDIA_TYPES[mediaType]?.family !== 'text' || bytes > head.length || head.includes(0)) {
    return null;
  }
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(head);
    return await readableText(text, mediaType);
  } catch {
    return null;
  }
};
