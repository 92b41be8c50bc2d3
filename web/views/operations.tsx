import { useState } from 'preact/hooks';
import type { Operation } from '../../src/kernel/contract/operation.js';
import { pageLink } from '../../src/kernel/pagepath.js';
import { StatusFilter } from '../parts/filter.js';
import { Heading } from '../parts/heading.js';
import { visibleText } from '../parts/json.js';
import { Cards, usePaged } from '../parts/more.js';
import { Empty, State } from '../parts/notes.js';
import { Progress } from '../parts/progress.js';
import { Ago } from '../parts/time.js';
import { ask } from '../state/api.js';

const STATUSES: readonly Operation['status'][] = [
  'running',
  'queued',
  'failed',
  'interrupted',
  'cancelled',
  'completed',
];

export const Operations = ({ query }: { query: URLSearchParams }) => {
  const [status, setStatus] = useState(STATUSES.find((one) => one === query.get('status')));
  const list = usePaged({
    key: status ?? '',
    load: async (page, signal) => {
      const filter = { ...page, ...(status && { status }) };
      const reply = await ask('GET', '/api/operations', { query: filter }, signal);
      return { rows: reply.operations, nextCursor: reply.nextCursor };
    },
    topics: ['operation.progress'],
  });
  return (
    <>
      <Heading title="Operations" />
      <StatusFilter of={STATUSES} chosen={status} choose={(one) => setStatus(one)} />
      <Cards of={list} what="operations" empty={<NoOperations status={status} />}>
        {(operation) => <OperationCard operation={operation} />}
      </Cards>
    </>
  );
};

const OperationCard = ({ operation }: { operation: Operation }) => {
  const { id, title, status, progress, error, finishedAt, createdAt } = operation;
  return (
    <>
      <p class="line">
        <State of={status} />
        <span class="at">
          <Ago at={createdAt} />
        </span>
      </p>
      <p>
        <a href={pageLink('operation', id)}>
          <strong>{visibleText(title)}</strong>
        </a>
      </p>
      {progress !== null && <Progress of={progress} isOver={finishedAt !== null} />}
      {error !== null && <p class="muted clip">{visibleText(error)}</p>}
    </>
  );
};

const NoOperations = ({ status }: { status: Operation['status'] | undefined }) =>
  status === undefined ? (
    <Empty>
      No operations yet. Replays, resends, uploads and research are operations. They continue after
      a restart.
    </Empty>
  ) : (
    <Empty>No operations with the status {status}.</Empty>
  );
