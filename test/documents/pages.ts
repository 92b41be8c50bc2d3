import { loadExtractor } from '../../src/documents/extract/extractors.js';
import type { ExtractJob, ExtractLine } from '../../src/documents/extract/job.js';
import { openExtraction } from '../../src/documents/extract/session.js';
import { EXTRACT_LIMITS } from '../../src/documents/extraction.js';

/** Extracts the pages of a file; returns their texts and the notes. */
export const pagesOf = async (
  mediaType: string,
  bytes: Buffer,
  pageChars = EXTRACT_LIMITS.pageChars,
  /** What is recognized in each picture. */
  recognized = '',
) => {
  const job: ExtractJob = {
    ...{ path: '', mediaType, languages: ['eng'], fromPage: 1, password: null },
    limits: { ...EXTRACT_LIMITS, pageChars },
  };
  const lines: ExtractLine[] = [];
  const result = recognized === '' ? null : { text: recognized, confidence: 90 };
  const recognizer = { recognize: async () => ({ result, failure: null }) };
  const write = (line: ExtractLine) => void lines.push(line);
  const { extraction, notes } = openExtraction(job, { write, recognizer });
  const extract = await loadExtractor(mediaType);
  await extract(bytes, extraction);
  return { texts: lines.flatMap((line) => ('text' in line ? [line.text] : [])), notes: notes() };
};
