import { setImmediate as breathe } from 'node:timers/promises';
import { truncateText } from '../kernel/excerpt.js';
import {
  isSupportedByQuotes,
  numbersIn,
  type QuotedSentence,
  quoteFinder,
  sanitizeModelText,
} from '../knowledge/module.js';
import type { ResearchSourceRow } from '../store/tables/research.js';
import type { ResearchReport } from './contract.js';
import type { ResearchDraft, SourceText } from './draft.js';

type ReportSection = ResearchReport['sections'][number];

const UNVERIFIED = '(unverified)';
const MAX_SENTENCE_LENGTH = 2_000;
const MAX_QUOTE_LENGTH = 2_000;
const MAX_HEADING_LENGTH = 200;
const MAX_QUOTES = 10;
const MAX_LIMITATIONS = 50;

/**
 * Verifies each quote of a draft against its source. Sentences without a valid quote, and headings
 * that make a claim, are marked and counted. Addresses that are in no source are removed.
 */
export const verifyReport = async (
  question: string,
  draft: ResearchDraft,
  { sources, unread, notes }: { sources: SourceText[]; unread: UnreadSource[]; notes: string[] },
): Promise<{ report: ResearchReport; used: Set<number> }> => {
  const clean = createTextCleaner(question, sources);
  const quotable = sources.map((source) => ({ ...source, find: quoteFinder(source.text) }));
  const titles = new Set(sources.map(({ title }) => clean(title, MAX_HEADING_LENGTH)));
  const used = new Set<number>();
  let unverified = 0;
  const sections: ReportSection[] = [];
  for (const { heading, sentences } of draft.sections) {
    const written = await verifiedSentences(sentences, quotable, clean);
    const { citations, markdown } = written;
    const title = clean(heading, MAX_HEADING_LENGTH);
    const known = [question, ...citations.map(({ quote }) => quote)];
    const isVerified = titles.has(title) || isLabel(title, known);
    unverified += written.unverified + (isVerified ? 0 : 1);
    for (const { n } of citations) used.add(n);
    sections.push({ heading: isVerified ? title : `${title} ${UNVERIFIED}`, markdown, citations });
  }
  const limitationTexts = draft.limitations
    .slice(0, MAX_LIMITATIONS)
    .map((sentence) => clean(sentence, 1000))
    .filter((each) => each !== '');
  const limitations = [...notes.map((note) => truncateText(note, 1000)), ...limitationTexts];
  const markdown = renderReportMarkdown(
    question,
    { sections, limitations },
    { sources, unread, used },
  );
  const { model } = draft;
  return { report: { markdown, sections, limitations, unverified, model }, used };
};

type UnreadSource = Pick<ResearchSourceRow, 'n' | 'url' | 'entry_id' | 'title' | 'error'>;

type QuotableSource = SourceText & { find: ReturnType<typeof quoteFinder> };

const verifiedSentences = async (
  sentences: QuotedSentence[],
  sources: QuotableSource[],
  clean: ReturnType<typeof createTextCleaner>,
): Promise<Pick<ReportSection, 'markdown' | 'citations'> & { unverified: number }> => {
  const citations: ReportSection['citations'] = [];
  const written: string[] = [];
  let unverified = 0;
  for (const { text: rawText, quotes } of sentences) {
    // Yields, because long texts take milliseconds.
    await breathe();
    const text = clean(rawText, MAX_SENTENCE_LENGTH);
    const { standing, isVerified } = verifiedQuotes({ text, quotes }, sources);
    if (!isVerified) unverified++;
    citations.push(...standing);
    const marks = [...new Set(standing.map(({ n }) => `[${n}]`))];
    written.push([text, ...marks, ...(isVerified ? [] : [UNVERIFIED])].join(' '));
  }
  return { markdown: written.join(' '), citations, unverified };
};

const verifiedQuotes = ({ text, quotes }: QuotedSentence, sources: QuotableSource[]) => {
  const standing = quotes
    .slice(0, MAX_QUOTES)
    .flatMap(({ n, quote }): ReportSection['citations'] => {
      const source =
        quote.length > MAX_QUOTE_LENGTH ? undefined : sources.find((each) => each.n === n);
      const place = source?.find(quote);
      if (!source || !place || place.to - place.from > MAX_QUOTE_LENGTH) return [];
      return [{ n, quote: source.text.slice(place.from, place.to) }];
    });
  const isVerified =
    standing.length === quotes.length &&
    isSupportedByQuotes(withoutMarks(text, standing), standing);
  return { standing, isVerified };
};

/** A source number at the end of a sentence, such as `It was closed (1).`, or after its name. */
const SOURCE_NUMBER = / *\((\d{1,6})\)(?=[ (\d)]*[.!?]?$)|(?<=\bsource) (\d{1,6})\b/gi;

const withoutMarks = (text: string, standing: { n: number }[]): string =>
  text.replace(SOURCE_NUMBER, (mark, ended, named) =>
    standing.some(({ n }) => n === Number(ended ?? named)) ? '' : mark,
  );

/** Headings with this number of words may make a claim. Some of the words may be unknown. */
const CLAIM_WORDS = 5;
const UNKNOWN_WORDS = 1;
/** Length of the common beginning of word forms. */
const STEM = 5;

/** True if a heading contains only words and numbers of the question and of the quotes below it. */
const isLabel = (heading: string, known: string[]): boolean => {
  const all = known.join('\n').toLowerCase();
  const numbers = new Set(known.flatMap(numbersIn));
  const words = heading.toLowerCase().match(/[\p{L}\p{M}]+/gu) ?? [];
  const unknown = words.filter(
    (word) => word.length >= STEM - 1 && !all.includes(word.slice(0, STEM)),
  );
  return (
    numbersIn(heading).every((number) => numbers.has(number)) &&
    (words.length < CLAIM_WORDS || unknown.length <= UNKNOWN_WORDS)
  );
};

const createTextCleaner = (question: string, sources: SourceText[]) => {
  const urls = new Set(sources.map(({ url }) => url));
  const isKnown = (address: string): boolean =>
    urls.has(address) ||
    question.includes(address) ||
    (/^[^/:]+@[^/:]+$/.test(address) && sources.some(({ text }) => text.includes(address)));
  return (text: string, most: number): string =>
    oneLine(sanitizeModelText(oneLine(text.slice(0, most * 2)), { most, isKnown }));
};

const renderReportMarkdown = (
  question: string,
  { sections, limitations }: Pick<ResearchReport, 'sections' | 'limitations'>,
  { sources, unread, used }: { sources: SourceText[]; unread: UnreadSource[]; used: Set<number> },
): string => {
  const title = `# ${escaped(oneLine(question))}`;
  const body = sections.map(({ heading, markdown }) =>
    heading === '' ? markdown : `## ${escaped(heading)}\n\n${markdown}`,
  );
  const nothing = sections.length === 0 ? ['No answer to this question was found.'] : [];
  const cited = sources.filter(({ n }) => used.has(n)).map(sourceLine);
  const missed = unread.map(
    (source) => `${sourceLine(source)} (${escaped(oneLine(source.error ?? ''))})`,
  );
  return [
    title,
    ...body,
    ...nothing,
    ...(limitations.length > 0 ? [`## Limitations\n\n${renderMarkdownList(limitations)}`] : []),
    ...(cited.length > 0 ? [`## Sources\n\n${cited.join('\n')}`] : []),
    ...(missed.length > 0 ? [`## Sources not read\n\n${missed.join('\n')}`] : []),
  ].join('\n\n');
};

const sourceLine = ({ n, title, url, entry_id }: Omit<UnreadSource, 'error'>): string => {
  const named = escaped(oneLine(title));
  if (url !== null) return `- [${n}] ${named}: <${url}>`;
  return `- [${n}] ${named} (your knowledge, entry ${(entry_id ?? '').slice(-6)})`;
};

const renderMarkdownList = (sentences: string[]): string =>
  sentences.map((sentence) => `- ${oneLine(sentence)}`).join('\n');

const oneLine = (text: string): string => text.replace(/[\s\p{Cc}]+/gu, ' ').trim();

/** Escapes Markdown and HTML. */
const escaped = (text: string): string => text.replace(/[\\`*_[\]<>#]/g, '\\$&');
