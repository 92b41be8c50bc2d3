import { useState } from 'preact/hooks';
import type { Approval } from '../../src/kernel/contract/approval.js';
import { pageLink } from '../../src/kernel/pagepath.js';
import { callHost } from '../parts/callfacts.js';
import { StatusFilter } from '../parts/filter.js';
import { Heading } from '../parts/heading.js';
import { visibleText } from '../parts/json.js';
import { Cards, type PagedList, usePaged } from '../parts/more.js';
import { Empty, State, UntrustedMark } from '../parts/notes.js';
import { Ago, Left } from '../parts/time.js';
import { ask } from '../state/api.js';
import { useLoad } from '../state/load.js';

type ApprovalWord = Approval['status'];
const STATUSES: readonly ApprovalWord[] = ['pending', 'approved', 'denied', 'expired'];
const PENDING = { status: 'pending', limit: 200 } as const;

/** Pending calls, soonest to expire first, then the decided ones. */
export const Approvals = ({ query }: { query: URLSearchParams }) => {
  const [status, setStatus] = useState(STATUSES.find((one) => one === query.get('status')));
  const agentId = query.get('agentId');
  const list = useApprovals(status, agentId);
  const agents = useLoad({
    key: '',
    load: (signal) => ask('GET', '/api/agents', { query: { limit: 200 } }, signal),
    topics: ['approval'],
  });
  const names = new Map(agents.data?.agents.map(({ id, name }) => [id, name]));
  return (
    <>
      <Heading title="Approvals" />
      {agentId !== null && (
        <p>
          Agent: {visibleText(names.get(agentId) ?? 'one agent')}.{' '}
          <a class="tap" href={pageLink('approvals')}>
            Approvals of all agents
          </a>
        </p>
      )}
      <StatusFilter of={STATUSES} chosen={status} choose={(one) => setStatus(one)} />
      <Cards of={list} what="approvals" empty={<NoApprovals status={status} />}>
        {(approval) => <ApprovalCard approval={approval} names={names} />}
      </Cards>
    </>
  );
};

/** Hook: approvals of a status and an agent. Without a status the pending ones come first. */
const useApprovals = (
  status: ApprovalWord | undefined,
  agentId: string | null,
): PagedList<Approval> =>
  usePaged({
    key: `${status ?? ''} ${agentId ?? ''}`,
    load: async (page, signal) => {
      const of = { ...page, ...(agentId !== null && { agentId }) };
      const list = async (filter: object) =>
        ask('GET', '/api/chat/approvals', { query: { ...of, ...filter } }, signal);
      const { approvals, nextCursor } = await list(status ? { status } : {});
      if (status || 'cursor' in page) return { rows: approvals, nextCursor };
      const pending = (await list(PENDING)).approvals.reverse();
      const rest = approvals.filter(({ id }) => pending.every((one) => one.id !== id));
      return { rows: [...pending, ...rest], nextCursor };
    },
    topics: ['approval'],
  });

const ApprovalCard = ({
  approval,
  names,
}: {
  approval: Approval;
  names: ReadonlyMap<string, string>;
}) => (
  <>
    <p class="line">
      <State of={approval.status} />
      {approval.untrusted && <UntrustedMark />}
      <span class="at">
        {approval.status === 'pending' ? (
          <>
            <Left until={approval.expiresAt} /> left
          </>
        ) : (
          <Ago at={approval.createdAt} />
        )}
      </span>
    </p>
    <p>
      <a href={pageLink('approval', approval.id)}>
        <strong>
          {visibleText(approval.tool)}: {visibleText(approval.action)}
        </strong>
      </a>
    </p>
    <p class="clip">{visibleText(formatCallSubject(approval))}</p>
    <p class="muted">
      {approval.agentId === null
        ? 'You (direct call)'
        : visibleText(names.get(approval.agentId) ?? 'An agent')}
    </p>
    <p class="muted clip">{visibleText(approval.reason)}</p>
  </>
);

/** Distinguishes calls of one tool: the request, or the first argument. */
const formatCallSubject = (approval: Approval): string => {
  const { method, url } = approval.arguments;
  if (callHost(approval) !== null && typeof url === 'string') {
    const { host, pathname } = new URL(url);
    return `${typeof method === 'string' ? `${method} ` : ''}${host}${pathname}`;
  }
  const [first] = Object.entries(approval.arguments);
  if (!first) return 'no arguments';
  const [name, value] = first;
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return `${name}: ${text.slice(0, 300)}`;
};

const NoApprovals = ({ status }: { status: ApprovalWord | undefined }) => (
  <Empty>
    {status === undefined ? 'No approvals yet.' : `No approvals with the status ${status}.`}
  </Empty>
);
