import { useState } from 'preact/hooks';
import { pageLink } from '../../src/kernel/pagepath.js';
import type { PipelineRun } from '../../src/pipelines/runs/contract.js';
import { StatusFilter } from '../parts/filter.js';
import { Heading } from '../parts/heading.js';
import { visibleText } from '../parts/json.js';
import { Cards, usePaged } from '../parts/more.js';
import { Empty, State, UntrustedMark } from '../parts/notes.js';
import { Ago } from '../parts/time.js';
import { ask } from '../state/api.js';

const STATUSES: readonly PipelineRun['status'][] = [
  'waiting',
  'running',
  'queued',
  'failed',
  'stopped',
  'completed',
];

/** Pipeline runs, newest first, or those started by the run in the address. */
export const Pipelines = ({ query }: { query: URLSearchParams }) => {
  const [status, setStatus] = useState(STATUSES.find((one) => one === query.get('status')));
  const parentId = query.get('parentId');
  const list = usePaged({
    key: `${status ?? ''} ${parentId ?? ''}`,
    load: async (page, signal) => {
      const filter = { ...page, ...(status && { status }), ...(parentId && { parentId }) };
      const reply = await ask('GET', '/api/pipelines', { query: filter }, signal);
      return { rows: reply.pipelines, nextCursor: reply.nextCursor };
    },
    topics: ['pipeline.stage'],
  });
  return (
    <>
      <Heading title="Pipelines" />
      {parentId && (
        <p>
          Runs started by <a href={pageLink('run', parentId)}>another run</a>
        </p>
      )}
      <StatusFilter of={STATUSES} chosen={status} choose={(one) => setStatus(one)} />
      <Cards of={list} what="runs" empty={<NoRuns status={status} />}>
        {(run) => <RunCard run={run} />}
      </Cards>
    </>
  );
};

const RunCard = ({ run }: { run: PipelineRun }) => (
  <>
    <p class="line">
      <State of={run.status} />
      {run.untrusted && <UntrustedMark />}
      <span>{run.usage.costUsd.toFixed(2)} USD</span>
      <span class="at">
        <Ago at={run.createdAt} />
      </span>
    </p>
    <p>
      <a href={pageLink('run', run.id)}>
        <strong>{visibleText(run.name)}</strong>
      </a>
    </p>
    {run.error !== null && <p class="muted clip">{visibleText(run.error)}</p>}
  </>
);

const NoRuns = ({ status }: { status: PipelineRun['status'] | undefined }) =>
  status === undefined ? (
    <Empty>
      No pipeline runs yet. Start one: <code>adjutant pipelines run</code>
    </Empty>
  ) : (
    <Empty>No runs with the status {status}.</Empty>
  );
