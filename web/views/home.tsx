import { type PagePlace, pageLink } from '../../src/kernel/pagepath.js';
import type { Need, Overview } from '../../src/system/overview/contract.js';
import { Heading } from '../parts/heading.js';
import { visibleText } from '../parts/json.js';
import { Empty, State, UntrustedMark } from '../parts/notes.js';
import { Show } from '../parts/show.js';
import { Ago, Left } from '../parts/time.js';
import { timeNow } from '../state/clock.js';
import { MAX_NEEDS_PER_KIND, useOverview } from '../state/overview.js';

/** Items that need attention, soonest to expire first, and figures. */
export const Home = () => {
  const overview = useOverview();
  return (
    <>
      <Heading title="Needs your attention" />
      {overview && (
        <Show of={overview} what="the overview">
          {(data) => (
            <>
              {data.needs.length === 0 && <Empty>Nothing needs your attention.</Empty>}
              <ul class="cards">
                {data.needs.map((need) => (
                  <NeedCard key={`${need.kind} ${need.id}`} need={need} />
                ))}
              </ul>
              <MoreNeeds needs={data.needs} />
              <StatusSection overview={data} />
            </>
          )}
        </Show>
      )}
    </>
  );
};

/** Lists of the kinds that may have more items than the overview shows. */
const LISTS: readonly { kind: Need['kind']; place: PagePlace; text: string }[] = [
  { kind: 'approval', place: 'approvals', text: 'All approvals' },
  { kind: 'failed', place: 'executions', text: 'All executions' },
  { kind: 'memory', place: 'memories', text: 'All memories' },
  { kind: 'task', place: 'tasks', text: 'All tasks' },
  { kind: 'recurring', place: 'recurringTasks', text: 'All recurring tasks' },
  { kind: 'stage', place: 'pipelines', text: 'All pipelines' },
];

const MoreNeeds = ({ needs }: { needs: Need[] }) => {
  const isFull = (kind: Need['kind']) =>
    needs.filter((need) => need.kind === kind).length >= MAX_NEEDS_PER_KIND;
  const lists = LISTS.filter(({ kind }) => isFull(kind));
  if (lists.length === 0) return null;
  return (
    <p class="line">
      There may be more:
      {lists.map(({ place, text }) => (
        <a key={place} class="tap" href={pageLink(place)}>
          {text}
        </a>
      ))}
    </p>
  );
};

const KINDS: Record<Need['kind'], { word: string; place: PagePlace | null }> = {
  approval: { word: 'Approval', place: 'approval' },
  failed: { word: 'Failed', place: 'execution' },
  expiring: { word: 'Expires', place: null },
  memory: { word: 'Memory', place: 'memory' },
  task: { word: 'Task', place: 'task' },
  recurring: { word: 'Recurring task', place: 'recurringTask' },
  stage: { word: 'Pipeline waits', place: 'run' },
  mailbox: { word: 'Mail account', place: 'mail' },
  mail: { word: 'Mail not sent', place: 'mail' },
};

/** Own details for kinds whose overview detail is a command, because a view handles them here. */
const DETAILS: Partial<Record<Need['kind'], string>> = {
  memory: 'Saved after reading external text',
  task: '',
  stage: 'Waits for your answer',
};

const formatNeedDetail = ({ kind, detail }: Need): string => DETAILS[kind] ?? detail;

/** Kinds whose time is their expiry. */
const RUNS_OUT: Need['kind'][] = ['approval', 'stage', 'expiring'];

const NeedCard = ({ need }: { need: Need }) => {
  const { word, place } = KINDS[need.kind];
  const title = <strong>{visibleText(need.title)}</strong>;
  return (
    <li class={`card ${need.kind}`}>
      <p class="line">
        <span class="kind">{word}</span>
        {need.untrusted && <UntrustedMark />}
        <span class="at">
          <NeedTime need={need} />
        </span>
      </p>
      <p>{place === null ? title : <a href={pageLink(place, need.id)}>{title}</a>}</p>
      {formatNeedDetail(need) !== '' && (
        <p class="muted clip">{visibleText(formatNeedDetail(need))}</p>
      )}
      {need.kind === 'expiring' && (
        <p>
          Rotate it: <code>adjutant vault rotate {visibleText(need.title)}</code>
        </p>
      )}
    </li>
  );
};

/** Remaining time for items that expire, else the age. A stage may wait without a limit. */
const NeedTime = ({ need: { kind, at } }: { need: Need }) => {
  if (at === '') return null;
  const isLeft = RUNS_OUT.includes(kind) || Date.parse(at) > timeNow();
  if (isLeft) {
    return (
      <>
        <Left until={at} /> left
      </>
    );
  }
  return (
    <>
      {kind === 'task' && 'due '}
      <Ago at={at} />
    </>
  );
};

const StatusSection = ({ overview }: { overview: Overview }) => {
  const { agents, mailboxes, today, unread, parts } = overview;
  const faults = parts.filter(({ status }) => status !== 'ok');
  return (
    <section aria-labelledby="standing">
      <h2 id="standing">Status</h2>
      <dl class="facts">
        <dt>Agents</dt>
        <dd>
          {agents.running} running, {agents.waitingApproval} waiting for you
        </dd>
        {mailboxes.total > 0 && (
          <>
            <dt>Mailboxes</dt>
            <dd>
              {mailboxes.total}, {mailboxes.watched} watched, {mailboxes.failing} failing
            </dd>
          </>
        )}
        <dt>Executions</dt>
        <dd>
          {today.executions} today, {today.failed} failed
        </dd>
        <dt>Cost today</dt>
        <dd>
          {today.costUsd.toFixed(2)} USD
          {today.limitUsd === null ? '' : ` of ${today.limitUsd.toFixed(2)}`}
        </dd>
        <dt>Unread</dt>
        <dd>
          <a href={pageLink('notifications')}>
            {unread} {unread === 1 ? 'notification' : 'notifications'}
          </a>
        </dd>
      </dl>
      {faults.map((part) => (
        <p key={part.name}>
          {part.name}: <State of={part.status} /> {part.detail}
        </p>
      ))}
    </section>
  );
};
