import { pageLink } from '../../src/kernel/pagepath.js';
import type { Memory } from '../../src/memories/contract.js';
import { Heading } from '../parts/heading.js';
import { visibleText } from '../parts/json.js';
import { Cards, type PagedList, usePaged } from '../parts/more.js';
import { Empty, State, UntrustedMark } from '../parts/notes.js';
import { Ago } from '../parts/time.js';
import { ask } from '../state/api.js';

/** Unconfirmed memories first, then the confirmed ones. */
export const MemoryList = () => {
  const waiting = useMemories(false);
  const kept = useMemories(true);
  const isWaiting = waiting.data !== null && waiting.data.rows.length > 0;
  return (
    <>
      <Heading title="Memories" />
      {(isWaiting || waiting.error !== null) && (
        <section aria-labelledby="waiting">
          <h2 id="waiting">To confirm</h2>
          <Cards of={waiting} what="memories to confirm" empty={null}>
            {(memory) => <MemoryCard memory={memory} />}
          </Cards>
        </section>
      )}
      <section aria-labelledby="kept">
        <h2 id="kept">Saved memories</h2>
        <Cards of={kept} what="memories" empty={<NoMemories />}>
          {(memory) => <MemoryCard memory={memory} />}
        </Cards>
      </section>
    </>
  );
};

const useMemories = (confirmed: boolean): PagedList<Memory> =>
  usePaged({
    key: String(confirmed),
    load: async (page, signal) => {
      const reply = await ask('GET', '/api/memories', { query: { ...page, confirmed } }, signal);
      return { rows: reply.memories, nextCursor: reply.nextCursor };
    },
    topics: ['memory.saved'],
  });

const MemoryCard = ({ memory }: { memory: Memory }) => (
  <>
    <p class="line">
      <State of={memory.confirmed ? (memory.pinned ? 'pinned' : 'kept') : 'unconfirmed'} />
      {!memory.confirmed && <UntrustedMark />}
      <span>{memory.about}</span>
      <span class="at">
        <Ago at={memory.createdAt} />
      </span>
    </p>
    <p>
      <a href={pageLink('memory', memory.id)}>
        <strong>{visibleText(memory.text)}</strong>
      </a>
    </p>
  </>
);

const NoMemories = () => (
  <Empty>
    No memories yet. Agents save them, and you can add one: <code>adjutant memories create</code>
  </Empty>
);
