import { useState } from 'preact/hooks';
import type { ExecutionSummary } from '../../src/hooks/executions/contract.js';
import { pageLink } from '../../src/kernel/pagepath.js';
import { StatusFilter } from '../parts/filter.js';
import { Heading } from '../parts/heading.js';
import { visibleText } from '../parts/json.js';
import { Cards, usePaged } from '../parts/more.js';
import { Empty, State } from '../parts/notes.js';
import { Show } from '../parts/show.js';
import { Ago } from '../parts/time.js';
import { ask } from '../state/api.js';
import { useLoad } from '../state/load.js';

const STATUSES: readonly ExecutionSummary['status'][] = [
  'error',
  'interrupted',
  'running',
  'queued',
  'skipped',
  'success',
];

/** Executions, newest first, of all hooks or the one in the address. */
export const Executions = ({ query }: { query: URLSearchParams }) => {
  const [status, setStatus] = useState(STATUSES.find((one) => one === query.get('status')));
  const hookId = query.get('hookId');
  const list = usePaged({
    key: `${status ?? ''} ${hookId ?? ''}`,
    load: async (page, signal) => {
      const filter = { ...page, ...(status && { status }), ...(hookId !== null && { hookId }) };
      const path = '/api/hooks/executions/recent';
      const reply = await ask('GET', path, { query: filter }, signal);
      return { rows: reply.executions, nextCursor: reply.nextCursor };
    },
    topics: ['hook.execution'],
    concerns: (event) => hookId === null || Object(event).hookId === hookId,
  });
  return (
    <>
      <Heading title="Executions" />
      {hookId !== null && <OneHook id={hookId} />}
      <StatusFilter of={STATUSES} chosen={status} choose={(one) => setStatus(one)} />
      <Cards of={list} what="executions" empty={<NoExecutions status={status} />}>
        {(run) => <ExecutionCard run={run} />}
      </Cards>
    </>
  );
};

/** The selected hook, and a link to the executions of all hooks. */
const OneHook = ({ id }: { id: string }) => {
  const hook = useLoad({
    key: id,
    load: (signal) => ask('GET', '/api/hooks/{id}', { id }, signal),
  });
  return (
    <>
      <Show of={hook} what="the hook" listed="executions">
        {({ name, enabled }) => (
          <p>
            Hook: <strong>{visibleText(name)}</strong>
            {!enabled && ' (disabled)'}
          </p>
        )}
      </Show>
      <p>
        <a class="tap" href={pageLink('executions')}>
          Executions of all hooks
        </a>
      </p>
    </>
  );
};

const ExecutionCard = ({ run }: { run: ExecutionSummary }) => (
  <>
    <p class="line">
      <State of={run.status} />
      <span>{visibleText(run.event ?? run.trigger)}</span>
      <span class="at">
        <Ago at={run.createdAt} />
      </span>
    </p>
    <p>
      <a href={pageLink('execution', run.id)}>
        <strong>{visibleText(run.hookName)}</strong>
      </a>
    </p>
    {run.error !== null && <p class="muted clip">{visibleText(run.error)}</p>}
  </>
);

const NoExecutions = ({ status }: { status: ExecutionSummary['status'] | undefined }) =>
  status === undefined ? (
    <Empty>
      No executions yet. A hook runs when a webhook arrives or its schedule is due. Create one:{' '}
      <code>adjutant hooks create</code>
    </Empty>
  ) : (
    <Empty>No executions with the status {status}.</Empty>
  );
