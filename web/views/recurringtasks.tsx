import { useState } from 'preact/hooks';
import { pageLink } from '../../src/kernel/pagepath.js';
import type { RecurringTask } from '../../src/recurring/contract.js';
import { Choice } from '../parts/filter.js';
import { Heading } from '../parts/heading.js';
import { visibleText } from '../parts/json.js';
import { Cards, usePaged } from '../parts/more.js';
import { Empty, State } from '../parts/notes.js';
import { getRecurringState, NextRun, ruleText } from '../parts/recurrence.js';
import { Ago } from '../parts/time.js';
import { ask } from '../state/api.js';

const KINDS = ['enabled', 'disabled'] as const;

/** Action, next due time and last outcome of each recurring task. */
export const RecurringTasks = ({ query }: { query: URLSearchParams }) => {
  const [kind, setKind] = useState(KINDS.find((one) => one === query.get('show')));
  const list = usePaged({
    key: kind ?? '',
    load: async (page, signal) => {
      const filter = { ...page, ...(kind && { enabled: kind === 'enabled' }) };
      const reply = await ask('GET', '/api/recurring-tasks', { query: filter }, signal);
      return { rows: reply.recurringTasks, nextCursor: reply.nextCursor };
    },
    topics: ['recurring.run'],
  });
  return (
    <>
      <Heading title="Recurring tasks" />
      <Choice
        name="show"
        label="Show"
        unless="all"
        of={KINDS}
        chosen={kind}
        choose={(one) => setKind(one)}
      />
      <Cards
        of={list}
        what="recurring tasks"
        empty={<NoRecurringTasks isAll={kind === undefined} />}
      >
        {(task) => <RecurringCard task={task} />}
      </Cards>
    </>
  );
};

const RecurringCard = ({ task }: { task: RecurringTask }) => (
  <>
    <p class="line">
      <State of={getRecurringState(task)} />
      <span>{task.action.replaceAll('_', ' ')}</span>
      {task.lastRunAt !== null && (
        <span class="at">
          <Ago at={task.lastRunAt} />
        </span>
      )}
    </p>
    <p>
      <a href={pageLink('recurringTask', task.id)}>
        <strong>{visibleText(task.title)}</strong>
      </a>
    </p>
    <p class="muted">
      {ruleText(task)}, next: <NextRun task={task} />
    </p>
    {task.lastStatus === 'error' && task.lastError !== null && (
      <p class="muted clip">{visibleText(task.lastError)}</p>
    )}
  </>
);

const NoRecurringTasks = ({ isAll }: { isAll: boolean }) =>
  isAll ? (
    <Empty>
      No recurring tasks yet. Create one: <code>adjutant recurring create</code>
    </Empty>
  ) : (
    <Empty>No matching recurring tasks.</Empty>
  );
