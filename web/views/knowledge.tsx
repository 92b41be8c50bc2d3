import { pageLink } from '../../src/kernel/pagepath.js';
import type { KnowledgeResults } from '../../src/knowledge/contract.js';
import { Heading } from '../parts/heading.js';
import { visibleText } from '../parts/json.js';
import { Empty, UntrustedMark } from '../parts/notes.js';
import { SearchForm } from '../parts/searchform.js';
import { Show } from '../parts/show.js';
import { ask } from '../state/api.js';
import { useLoad } from '../state/load.js';
import { go } from '../state/route.js';

type KnowledgeHit = KnowledgeResults['results'][number];

/** The query is in the address, so that going back restores it. */
export const KnowledgeView = ({ query }: { query: URLSearchParams }) => {
  const words = query.get('q') ?? '';
  const found = useLoad({
    key: words,
    load: async (signal) => {
      if (words === '') return null;
      const body = { query: words, limit: 20 };
      return ask('POST', '/api/knowledge/search', { body }, signal);
    },
  });
  return (
    <>
      <Heading title="Knowledge" />
      <SearchForm
        key={words}
        words={words}
        search={(q) => go(`${pageLink('knowledge')}?${new URLSearchParams({ q })}`)}
        isNeeded
      />
      {words === '' ? (
        <Empty>
          Search your documents, web pages and notes. Add them with{' '}
          <code>adjutant knowledge index</code>.
        </Empty>
      ) : (
        <Show of={found} what="the results">
          {(data) => data && <Hits found={data} />}
        </Show>
      )}
    </>
  );
};

const Hits = ({ found }: { found: KnowledgeResults }) => (
  <>
    <p role="status" class="muted">
      {found.results.length} {found.results.length === 1 ? 'result' : 'results'}
    </p>
    {found.degraded !== null && <p class="note warn">{visibleText(found.degraded)}</p>}
    {found.results.length === 0 && (
      <Empty>
        No results. Add documents, web pages and notes with <code>adjutant knowledge index</code>.
      </Empty>
    )}
    <ol class="cards">
      {found.results.map((hit) => (
        <li key={`${hit.entryId} ${hit.chunk}`} class="card">
          <p class="line">
            <span class="kind">{hit.sourceType}</span>
            {hit.trust === 'outside' && <UntrustedMark />}
            {hit.page !== null && <span class="at">page {hit.page}</span>}
          </p>
          <p>
            <a href={`${pageLink('source', hit.entryId)}?chunk=${hit.chunk}`}>
              <strong>{visibleText(hit.title)}</strong>
            </a>
          </p>
          <p class="clip">
            <Marked hit={hit} />
          </p>
        </li>
      ))}
    </ol>
  </>
);

const Marked = ({ hit: { snippet, highlights } }: { hit: KnowledgeHit }) => {
  const parts = [];
  let end = 0;
  for (const [from = 0, to = 0] of highlights) {
    parts.push(visibleText(snippet.slice(end, from)));
    parts.push(<mark key={from}>{visibleText(snippet.slice(from, to))}</mark>);
    end = to;
  }
  return (
    <>
      {parts}
      {visibleText(snippet.slice(end))}
    </>
  );
};
