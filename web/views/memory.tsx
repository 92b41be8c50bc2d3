import { pageLink } from '../../src/kernel/pagepath.js';
import type { Memory } from '../../src/memories/contract.js';
import { Button, useAction } from '../parts/action.js';
import { Confirm } from '../parts/confirm.js';
import { Heading } from '../parts/heading.js';
import { LongText, visibleText } from '../parts/json.js';
import { Fact, Failure, State, UntrustedMark } from '../parts/notes.js';
import { Show } from '../parts/show.js';
import { Moment } from '../parts/time.js';
import { ask } from '../state/api.js';
import { type Loaded, useLoad } from '../state/load.js';
import { goToPlace } from '../state/route.js';

export const MemoryPage = ({ id }: { id: string }) => {
  const memory = useLoad({
    key: id,
    load: (signal) => ask('GET', '/api/memories/{id}', { id }, signal),
  });
  return (
    <>
      <Heading title="Memory" />
      <Show of={memory} what="the memory" listed="memories">
        {(data) => (
          <>
            <LongText text={data.text} kind="prose" />
            <MemoryFacts memory={data} />
            <MemoryActions memory={data} loaded={memory} />
          </>
        )}
      </Show>
    </>
  );
};

const MemoryFacts = ({ memory }: { memory: Memory }) => (
  <>
    <p class="line" role="status">
      <State of={memory.confirmed ? (memory.pinned ? 'pinned' : 'kept') : 'unconfirmed'} />
      {!memory.confirmed && <UntrustedMark />}
    </p>
    {!memory.confirmed && (
      <p>This memory was saved after reading external text. It is not used until you confirm it.</p>
    )}
    <dl class="facts">
      <Fact name="About">{memory.about}</Fact>
      <Fact name="Used in">
        {memory.pinned ? 'every conversation' : 'conversations about the same topic'}
      </Fact>
      <Fact name="From">
        <Author of={memory.createdBy} />
      </Fact>
      <Fact name="Saved">
        <Moment at={memory.createdAt} />
      </Fact>
    </dl>
  </>
);

const Author = ({ of }: { of: string }) => {
  if (of.startsWith('agent_')) return <a href={pageLink('agent', of)}>An agent</a>;
  if (of.startsWith('execution_')) {
    return <a href={pageLink('execution', of)}>A hook execution</a>;
  }
  return <>{of === 'person' ? 'You' : visibleText(of)}</>;
};

const MemoryActions = ({ memory, loaded }: { memory: Memory; loaded: Loaded<Memory> }) => {
  const action = useAction();
  const { id } = memory;
  const confirm = async (): Promise<void> => {
    const body = { confirmed: true };
    loaded.replace(await ask('PATCH', '/api/memories/{id}', { id, body }));
    document.querySelector('h1')?.focus();
  };
  const forget = async (): Promise<void> => {
    await ask('DELETE', '/api/memories/{id}', { id });
    goToPlace('memories');
  };
  return (
    <section aria-label="Actions">
      {action.error && <Failure error={action.error} />}
      {!memory.confirmed && (
        <div class="buttons">
          <Button action={action} kind="main" work={confirm}>
            Confirm
          </Button>
        </div>
      )}
      <Confirm
        action={action}
        work={forget}
        kind="danger"
        question={<>Delete this memory? No conversation uses it any longer.</>}
        label="Delete it"
      >
        Delete
      </Confirm>
    </section>
  );
};
