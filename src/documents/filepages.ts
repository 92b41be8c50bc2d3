import { writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import type { Workers } from '../operations/module.js';
import { detectSourceForm } from '../providers/pages/kind.js';
import { type PageSource, PageUnreadable } from '../providers/pages/page.js';
import { type ReadPage, readPageInWorker } from '../providers/pages/pageworker.js';
import type { ExtractJob } from './extract/job.js';
import { detectMediaType, unsupportedReason } from './extract/kinds.js';
import { DEFAULT_LANGUAGE } from './extract/languages.js';
import { EXTRACT_LIMITS, extractInWorker } from './extraction.js';
import type { Originals } from './originals.js';

interface FilePagesDeps {
  workers: Workers;
  originals: Pick<Originals, 'openUpload' | 'removeUpload'>;
}

interface FilePage {
  source: PageSource;
  form: 'pdf' | 'office';
  most: number;
  userId: string;
  signal: AbortSignal;
}

/** A person waits for a page, so fewer images are recognized than in a document. */
const LIMITS = { ...EXTRACT_LIMITS, ocrPages: 20 };
const FORMS = { pdf: 'a PDF file', office: 'an office file' };

/**
 * Reads web pages of all types: PDF and office files in a separate process, like documents, and
 * others in a thread.
 */
export const createReadPage =
  (deps: FilePagesDeps): ReadPage =>
  async (source, wish, reader) => {
    const form = detectSourceForm(source);
    if (form !== 'pdf' && form !== 'office') return readPageInWorker(source, wish, reader);
    const { userId, signal } = reader;
    const { text, notes } = await textOfFile(deps, {
      source,
      form,
      userId,
      signal,
      most: wish.most + 1,
    });
    if (text.trim() === '') {
      const details = notes.map((note) => `. ${note}`).join('');
      throw new PageUnreadable(`is ${FORMS[form]} without readable text${details}`, form);
    }
    const { url } = source;
    const extracted = { body: Buffer.from(text), contentType: 'text/plain; charset=utf-8', url };
    const page = await readPageInWorker(extracted, wish, reader);
    return {
      ...page,
      kind: form,
      title: nameIn(url),
      excerpt: notes.length > 0 ? notes.join(' ') : null,
      note: notes.length > 0 ? notes.join(' ') : null,
      isTruncated: page.isTruncated || notes.length > 0,
    };
  };

const textOfFile = async (
  { workers, originals }: FilePagesDeps,
  { source, form, most, userId, signal }: FilePage,
): Promise<{ text: string; notes: string[] }> => {
  const name = nameIn(source.url) ?? '';
  const mediaType = await detectMediaType(source.body, name);
  if (mediaType === null) {
    const reason = unsupportedReason(source.body, name);
    throw new PageUnreadable(reason ?? `is ${FORMS[form]} of an unsupported type`, form);
  }
  const folder = await originals.openUpload();
  const pages: string[] = [];
  let chars = 0;
  try {
    const path = join(folder, 'page');
    await writeFile(path, source.body);
    const { failure, notes } = await extractInWorker(workers, {
      userId,
      job: buildExtractJob(path, mediaType),
      signal,
      take: async (line) => {
        if (!('text' in line) || chars >= most) return;
        pages.push(line.text);
        chars += line.text.length;
      },
    });
    if (failure) {
      throw new PageUnreadable(
        `is ${FORMS[form]} that could not be read: ${failure.message}`,
        form,
      );
    }
    return { text: pages.join('\n\n').slice(0, most), notes };
  } finally {
    await originals.removeUpload(folder);
  }
};

const buildExtractJob = (path: string, mediaType: string): ExtractJob => ({
  path,
  mediaType,
  languages: [DEFAULT_LANGUAGE],
  fromPage: 1,
  password: null,
  limits: LIMITS,
});

const nameIn = (url: string): string | null => {
  const name = basename(new URL(url).pathname);
  try {
    return decodeURIComponent(name).slice(0, 300) || null;
  } catch {
    return name;
  }
};
