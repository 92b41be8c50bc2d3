import type { Operation } from '../../src/kernel/contract/operation.js';
import { type PagePlace, pageLink } from '../../src/kernel/pagepath.js';
import { useAction } from '../parts/action.js';
import { Confirm } from '../parts/confirm.js';
import { Heading } from '../parts/heading.js';
import { LongText, Values, visibleText } from '../parts/json.js';
import { Fact, Failure, State } from '../parts/notes.js';
import { Progress } from '../parts/progress.js';
import { Show } from '../parts/show.js';
import { Ago, Moment } from '../parts/time.js';
import { ask } from '../state/api.js';
import { type Loaded, useLoad } from '../state/load.js';

export const OperationView = ({ id }: { id: string }) => {
  const operation = useLoad({
    key: id,
    load: (signal) => ask('GET', '/api/operations/{id}', { id }, signal),
    topics: ['operation.progress'],
    concerns: (event) => Object(event).id === id,
  });
  return (
    <>
      <Heading title="Operation" />
      <Show of={operation} what="the operation" listed="operations">
        {(data) => (
          <>
            <Facts operation={data} />
            {data.finishedAt === null && <Cancel operation={data} loaded={operation} />}
            <Outcome operation={data} />
          </>
        )}
      </Show>
    </>
  );
};

const Facts = ({ operation }: { operation: Operation }) => {
  const { title, status, progress, kind, createdAt, startedAt, finishedAt } = operation;
  return (
    <>
      <p>
        <strong>{visibleText(title)}</strong>
      </p>
      <p class="line" role="status">
        <State of={status} />
        <span class="at">
          <Ago at={createdAt} />
        </span>
      </p>
      {progress !== null && <Progress of={progress} isOver={finishedAt !== null} />}
      <dl class="facts">
        <Fact name="Kind">{kind}</Fact>
        <Fact name="About">
          <Subject operation={operation} />
        </Fact>
        {startedAt !== null && (
          <Fact name="Started">
            <Moment at={startedAt} />
          </Fact>
        )}
        {finishedAt !== null && (
          <Fact name="Ended">
            <Moment at={finishedAt} />
          </Fact>
        )}
        {progress?.note && <Fact name="Note">{visibleText(progress.note)}</Fact>}
      </dl>
    </>
  );
};

const SUBJECTS = new Map<string, PagePlace>([
  ['agent', 'agent'],
  ['pipeline', 'run'],
  ['task', 'task'],
]);

/** Object of the operation, as a link if the page has a view for it. */
const Subject = ({ operation: { resource } }: { operation: Operation }) => {
  const { kind, id } = resource;
  if (kind === 'user') return 'all your data';
  const place = SUBJECTS.get(kind);
  const name = `${kind} ${visibleText(id)}`;
  return place ? <a href={pageLink(place, id)}>{name}</a> : name;
};

const Cancel = ({ operation, loaded }: { operation: Operation; loaded: Loaded<Operation> }) => {
  const action = useAction();
  const cancel = async (): Promise<void> => {
    const { id } = operation;
    loaded.replace(await ask('POST', '/api/operations/{id}/cancel', { id }));
    document.querySelector('h1')?.focus();
  };
  return (
    <section aria-label="Cancel">
      {action.error && <Failure error={action.error} />}
      <Confirm
        action={action}
        work={cancel}
        kind="danger"
        question={<>Cancel {visibleText(operation.title)}? Completed work is not undone.</>}
        label="Cancel it"
      >
        Cancel
      </Confirm>
    </section>
  );
};

const Outcome = ({ operation: { error, result } }: { operation: Operation }) => (
  <>
    {error !== null && (
      <>
        <h2>Error</h2>
        <LongText text={error} />
      </>
    )}
    {result !== null && (
      <>
        <h2>Result</h2>
        <Values of={result} />
      </>
    )}
  </>
);
