import { join } from 'node:path';
import Boom from '@hapi/boom';
import { type Clock, iso } from '../kernel/clock.js';
import type { FormBody, FormFile } from '../kernel/contract/endpoint.js';
import type { Static } from '../kernel/contract/schema.js';
import { isDiskFull } from '../kernel/failure.js';
import { mint } from '../kernel/ids.js';
import { badRequest } from '../kernel/route.js';
import { sizeText } from '../kernel/sizetext.js';
import type { OperationBeginner } from '../operations/module.js';
import type { DocumentRow } from '../store/tables/documents.js';
import { type documents, FILE_BYTES } from './contract.js';
import type { DocumentInput } from './entry.js';
import { detectMediaType, unsupportedReason } from './extract/kinds.js';
import { DEFAULT_LANGUAGE, installedLanguages } from './extract/languages.js';
import { type ArrivedFile, type Originals, receiveFile } from './originals.js';
import type { DocumentsStore } from './queries.js';

export interface UploadDeps {
  clock: Clock;
  documents: DocumentsStore;
  originals: Originals;
  reads: OperationBeginner<DocumentInput>;
  /** `null` means no limit. */
  quotaBytes: number | null;
  addedLanguages: string;
}

type Fields = Static<(typeof documents)['upload']['form']['fields']>;
type UploadForm = FormBody<Fields>;

export interface UploadedRow {
  row: DocumentRow;
  duplicate: boolean;
}

interface Upload {
  documents: UploadedRow[];
  refused: { filename: string; reason: string }[];
}

type Arrival = { name: string; kind: string; file: ArrivedFile } | RejectedFile;

/** The reason completes a sentence that starts with the file name. */
export interface RejectedFile {
  name: string;
  reason: string;
  isQuota: boolean;
}

/**
 * Stores the files of a form. A rejected file does not affect the others. Throws 400 if all are
 * rejected, or 413 `quota` if all exceed the quota.
 */
export const uploadFiles = async (
  deps: UploadDeps,
  userId: string,
  form: UploadForm,
): Promise<Upload> => {
  return withPlace(deps, userId, async (place) => {
    let count = 0;
    const { files, fields } = await form.read((file) =>
      receive(deps, file, { ...place, name: String(count++) }),
    );
    const language = await resolveLanguage(fields.language, deps.addedLanguages);
    const upload: Upload = { documents: [], refused: [] };
    for (const arrival of files) {
      if ('reason' in arrival) {
        upload.refused.push({ filename: arrival.name, reason: arrival.reason });
        continue;
      }
      const { tags = [], index = true } = fields;
      const kept = { ...arrival, language, tags: [...new Set(tags)], isIndexed: index };
      upload.documents.push(await keep(deps, userId, kept));
    }
    if (upload.documents.length === 0) throw uploadRejection(files);
    return upload;
  });
};

/**
 * Throws 507 if the disk is full, 409 if too many documents are waiting, and the errors of the
 * content stream.
 */
export const uploadFile = (
  deps: UploadDeps,
  userId: string,
  file: FormFile,
): Promise<UploadedRow | RejectedFile> =>
  withPlace(deps, userId, async (place) => {
    const arrival = await receive(deps, file, { ...place, name: '0' });
    if ('reason' in arrival) return arrival;
    const more = { language: DEFAULT_LANGUAGE, tags: [], isIndexed: true };
    return keep(deps, userId, { ...arrival, ...more });
  });

interface ArrivalPlace {
  folder: string;
  used: { bytes: number };
}

const withPlace = async <T>(
  { originals, documents }: UploadDeps,
  userId: string,
  work: (place: ArrivalPlace) => Promise<T>,
): Promise<T> => {
  let folder: string | null = null;
  try {
    folder = await originals.openUpload();
    return await work({ folder, used: { bytes: await documents.bytesOf(userId) } });
  } catch (error) {
    throw isDiskFull(error) ? diskFull() : error;
  } finally {
    if (folder !== null) await originals.removeUpload(folder);
  }
};

const diskFull = (): Boom.Boom =>
  new Boom.Boom('The disk of the daemon is full. No file of this upload was stored', {
    statusCode: 507,
    data: { code: 'disk_full' },
  });

/** Throws 400 for a language that is not installed. */
export const resolveLanguage = async (
  value: string | undefined,
  added: string,
): Promise<string> => {
  if (value === undefined) return DEFAULT_LANGUAGE;
  const installed = await installedLanguages(added);
  const missing = value.split('+').filter((code) => !installed.includes(code));
  if (missing.length === 0) return value;
  const message = `must contain only installed languages. Not installed: ${missing.join(', ')}. Installed: ${installed.join(', ')}. An admin can add languages with: adjutant capabilities install tesseract:${missing[0]}`;
  throw badRequest([{ path: 'language', message }]);
};

const receive = async (
  { quotaBytes }: UploadDeps,
  { filename, content, isCut }: FormFile,
  { folder, name: stored, used }: ArrivalPlace & { name: string },
): Promise<Arrival> => {
  const name = sanitizeFileName(filename);
  const refused = (reason: string, isQuota = false): Arrival => ({ name, reason, isQuota });
  if (quotaBytes !== null && used.bytes >= quotaBytes) {
    content.resume();
    return refused(quotaMessage(quotaBytes), true);
  }
  const file = await receiveFile(join(folder, stored), content);
  if (isCut()) return refused(`is larger than ${FILE_BYTES / 1024 / 1024} MiB`);
  const kind = await detectMediaType(file.head, name);
  if (kind === null) {
    return refused(unsupportedReason(file.head, name) ?? 'has an unsupported file type');
  }
  if (quotaBytes !== null && used.bytes + file.bytes > quotaBytes) {
    return refused(quotaMessage(quotaBytes), true);
  }
  used.bytes += file.bytes;
  return { name, kind, file };
};

const quotaMessage = (bytes: number): string => `exceeds your quota of ${sizeText(bytes)}`;

/** Returns the last segment of a path, normalized and without invisible characters. */
export const sanitizeFileName = (value: string): string => {
  const last = value.normalize('NFC').split(/[/\\]/).at(-1) ?? '';
  // The cut may leave half of a surrogate pair.
  const clean = last.slice(-255).replace(/\p{C}/gu, '').trim();
  return /[^.\s]/.test(clean) ? clean : 'unnamed';
};

interface FileToKeep {
  name: string;
  kind: string;
  file: ArrivedFile;
  language: string;
  tags: string[];
  isIndexed: boolean;
}

const keep = (deps: UploadDeps, userId: string, kept: FileToKeep): Promise<UploadedRow> =>
  deps.originals.inTurn(userId, async () => {
    const { documents, originals } = deps;
    const known = await documents.withContent(userId, kept.file.sha256);
    if (known) {
      const isOver = known.status === 'failed' || known.status === 'cancelled';
      const row = isOver ? await requeueDocument(deps, known, kept.language) : known;
      return { row, duplicate: true };
    }
    await originals.keep(userId, kept.file);
    return { row: await beginReading(deps, userId, kept), duplicate: false };
  });

const beginReading = async (
  { clock, documents, reads }: UploadDeps,
  userId: string,
  { name, kind, file, language, tags, isIndexed }: FileToKeep,
): Promise<DocumentRow> => {
  const now = clock.now();
  const id = mint('document', now);
  const row: Omit<DocumentRow, 'operation_id'> = {
    id,
    user_id: userId,
    filename: name,
    media_type: kind,
    bytes: file.bytes,
    sha256: file.sha256,
    pages: null,
    language,
    status: 'queued',
    ocr: 'none',
    confidence: null,
    text_chars: 0,
    tags: JSON.stringify(tags),
    error: null,
    code: null,
    created_at: iso(now),
    processed_at: null,
    knowledge_id: null,
    indexed: isIndexed ? 1 : 0,
  };
  const operation = await reads.begin(
    buildReadOperation(userId, id, name),
    ({ id: operation_id }) => [documents.insert({ ...row, operation_id })],
  );
  return { ...row, operation_id: operation.id };
};

interface ReadAgainDeps {
  documents: Pick<DocumentsStore, 'get' | 'restart'>;
  reads: OperationBeginner<DocumentInput>;
}

/** Throws Unmet if the document is being processed. */
export const requeueDocument = async (
  { documents, reads }: ReadAgainDeps,
  row: DocumentRow,
  language: string,
): Promise<DocumentRow> => {
  const of = buildReadOperation(row.user_id, row.id, row.filename);
  await reads.begin(of, ({ id: operation_id }) =>
    documents.restart(row, { operation_id, language }),
  );
  return (await documents.get(row.user_id, row.id)) ?? row;
};

const buildReadOperation = (userId: string, documentId: string, name: string) => ({
  userId,
  resource: { kind: 'document', id: documentId },
  title: `Reading of ${name}`.slice(0, 200),
  input: { documentId },
  progress: { total: null, unit: 'pages' },
});

/** 413 if all files exceed the quota, otherwise 400. */
export const uploadRejection = (files: Arrival[]): Boom.Boom => {
  const refused = files.flatMap((file) => ('reason' in file ? [file] : []));
  if (refused.length === 0) return badRequest([{ path: 'files', message: 'contains no file' }]);
  const details = refused.map(({ name, reason }) => ({
    path: 'files',
    message: `${name} ${reason}`,
  }));
  const message = details.map(({ message }) => message).join('; ');
  return refused.every(({ isQuota }) => isQuota)
    ? Boom.entityTooLarge(message, { code: 'quota' })
    : Boom.badRequest(`Invalid request: ${message}`, { details });
};
