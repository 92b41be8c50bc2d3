import { pageLink } from '../../src/kernel/pagepath.js';
import { Heading } from '../parts/heading.js';
import { LongText, visibleText } from '../parts/json.js';
import { UntrustedMark } from '../parts/notes.js';
import { Show } from '../parts/show.js';
import { ask, type ReplyOf } from '../state/api.js';
import { useLoad } from '../state/load.js';

type ChunkReply = ReplyOf<'GET', '/api/knowledge/{id}/chunks/{n}'>;

/** One chunk of a source: its text, page and neighbours. */
export const SourceView = ({ id, query }: { id: string; query: URLSearchParams }) => {
  const n = /^\d{1,9}$/.exec(query.get('chunk') ?? '')?.[0] ?? '0';
  const chunk = useLoad({
    key: n,
    load: (signal) => ask('GET', '/api/knowledge/{id}/chunks/{n}', { id, n }, signal),
  });
  return (
    <>
      {chunk.data === null && <Heading title="Knowledge" />}
      <Show of={chunk} what="the source" listed="knowledge">
        {(data) => (
          <>
            <Heading title={visibleText(data.title)} />
            <p class="line">
              <span class="kind">{data.sourceType}</span>
              {data.trust === 'outside' && <UntrustedMark />}
              <span class="at">
                {data.page === null ? '' : `page ${data.page}, `}
                part {data.chunk + 1} of {data.chunks}
              </span>
            </p>
            {data.uri !== null && <p class="muted">{visibleText(data.uri)}</p>}
            {data.heading !== null && <h2>{visibleText(data.heading)}</h2>}
            <LongText text={data.text} />
            <ChunkNavigation chunk={data} />
            <DocumentPageText chunk={data} />
          </>
        )}
      </Show>
    </>
  );
};

const ChunkNavigation = ({ chunk: { entryId, before, after } }: { chunk: ChunkReply }) => {
  const to = (n: number) => `${pageLink('source', entryId)}?chunk=${n}`;
  return (
    <nav aria-label="Parts" class="buttons">
      {before !== null && (
        <a class="button" href={to(before)} rel="prev">
          Previous
        </a>
      )}
      {after !== null && (
        <a class="button" href={to(after)} rel="next">
          Next
        </a>
      )}
    </nav>
  );
};

/** The full document page of the chunk. */
const DocumentPageText = ({ chunk: { sourceType, sourceId, page } }: { chunk: ChunkReply }) => {
  const isKnown = sourceType === 'document' && sourceId !== null && page !== null;
  const text = useLoad({
    key: `${sourceId} ${page}`,
    load: async (signal) =>
      isKnown
        ? ask(
            'GET',
            '/api/documents/{id}/pages/{number}',
            { id: sourceId, number: String(page) },
            signal,
          )
        : null,
  });
  if (!isKnown) return null;
  return (
    <details>
      <summary>The whole page {page}</summary>
      <Show of={text} what="the page">
        {(data) => data && <LongText text={data.text} />}
      </Show>
    </details>
  );
};
