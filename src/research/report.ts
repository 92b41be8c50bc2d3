import { beginningOf } from '../kernel/excerpt.js';
import { type QuotedSentence, quoteFinder } from '../knowledge/module.js';
import type { ResearchReport } from './contract.js';
import type { ResearchDraft, SourceText } from './draft.js';

type ReportSection = ResearchReport['sections'][number];

/** The mark of a sentence whose quote does not stand in its source. */
const UNVERIFIED = '(unverified)';
const LONGEST_SENTENCE = 2_000;
const LONGEST_QUOTE = 2_000;
const LONGEST_HEADING = 200;

/**
 * Makes the report of a draft: each quote is held against the text of its source, and a sentence
 * that has none which stands is marked and counted. Addresses that no source has are taken out.
 */
export const verifiedReport = (
  question: string,
  draft: ResearchDraft,
  { sources, notes }: { sources: SourceText[]; notes: string[] },
): { report: ResearchReport; used: Set<number> } => {
  const clean = cleanerOf(sources);
  const quotable = sources.map((source) => ({ ...source, find: quoteFinder(source.text) }));
  const used = new Set<number>();
  let unverified = 0;
  const sections = draft.sections.map(({ heading, sentences }): ReportSection => {
    const citations: ReportSection['citations'] = [];
    const written = sentences.map((sentence) => {
      const { standing, isVerified } = verifiedQuotes(sentence, quotable);
      if (!isVerified) unverified++;
      for (const { n } of standing) used.add(n);
      citations.push(...standing);
      const marks = [...new Set(standing.map(({ n }) => `[${n}]`))];
      const text = clean(sentence.text, LONGEST_SENTENCE);
      return [text, ...marks, ...(isVerified ? [] : [UNVERIFIED])].join(' ');
    });
    return { heading: clean(heading, LONGEST_HEADING), markdown: written.join(' '), citations };
  });
  const said = draft.limitations
    .map((sentence) => clean(sentence, 1000))
    .filter((each) => each !== '');
  const limitations = [...notes.map((note) => beginningOf(note, 1000)), ...said];
  const markdown = markdownOf(question, { sections, limitations }, { sources, used });
  const { model } = draft;
  return { report: { markdown, sections, limitations, unverified, model }, used };
};

/** A source, with the function that finds a quote in it. */
type QuotableSource = SourceText & { find: ReturnType<typeof quoteFinder> };

const verifiedQuotes = ({ quotes }: QuotedSentence, sources: QuotableSource[]) => {
  const standing = quotes.flatMap(({ n, quote }): ReportSection['citations'] => {
    const source = sources.find((each) => each.n === n);
    const place = source?.find(quote);
    if (!source || !place || place.to - place.from > LONGEST_QUOTE) return [];
    return [{ n, quote: source.text.slice(place.from, place.to) }];
  });
  return { standing, isVerified: quotes.length > 0 && standing.length === quotes.length };
};

const ADDRESS = /\b(?:https?|ftp|data|javascript|file):[^\s)\]>"'“”]+/gi;

/**
 * Returns the function that makes plain text of what a model wrote. An image or a link in a report
 * could carry what the sources hold to an address of somebody's choice, once it is shown.
 */
const cleanerOf = (sources: SourceText[]) => {
  const known = new Set(sources.map(({ url }) => url));
  return (text: string, most: number): string =>
    beginningOf(
      text
        .replace(/!?\[([^\]]*)\]\([^)]*\)/g, '$1')
        .replace(/<[^>]*>/g, '')
        .replace(ADDRESS, (address) => (known.has(address) ? address : '(address removed)'))
        .replace(/\bwww\.\S+/gi, '(address removed)')
        .replace(/[\s\p{Cc}]+/gu, ' ')
        .trim(),
      most,
    );
};

const markdownOf = (
  question: string,
  { sections, limitations }: Pick<ResearchReport, 'sections' | 'limitations'>,
  { sources, used }: { sources: SourceText[]; used: Set<number> },
): string => {
  const title = `# ${escaped(oneLine(question))}`;
  const body = sections.map(({ heading, markdown }) =>
    heading === '' ? markdown : `## ${escaped(heading)}\n\n${markdown}`,
  );
  const nothing = sections.length === 0 ? ['Nothing was found that answers this question.'] : [];
  const cited = sources.filter(({ n }) => used.has(n)).map(sourceLine);
  return [
    title,
    ...body,
    ...nothing,
    ...(limitations.length > 0 ? [`## Limitations\n\n${listOf(limitations)}`] : []),
    ...(cited.length > 0 ? [`## Sources\n\n${cited.join('\n')}`] : []),
  ].join('\n\n');
};

const sourceLine = ({ n, title, url }: SourceText): string => {
  const named = escaped(oneLine(title));
  return url === null ? `- [${n}] ${named} (your knowledge)` : `- [${n}] ${named}: <${url}>`;
};

const listOf = (sentences: string[]): string =>
  sentences.map((sentence) => `- ${oneLine(sentence)}`).join('\n');

const oneLine = (text: string): string => text.replace(/[\s\p{Cc}]+/gu, ' ').trim();

/** Escapes what would be Markdown or HTML in a title. */
const escaped = (text: string): string => text.replace(/[\\`*_[\]<>#]/g, '\\$&');
