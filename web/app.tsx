import type { ComponentType } from 'preact';
import { useCallback, useEffect, useState } from 'preact/hooks';
import type { PagePlace } from '../src/kernel/pagepath.js';
import { Heading } from './parts/heading.js';
import { Layout } from './parts/layout.js';
import { ViewLoadFailure } from './parts/loadfailure.js';
import { Failure, LoadingNote } from './parts/notes.js';
import { asRequestError } from './state/load.js';
import { go, route } from './state/route.js';
import { readMe, session } from './state/session.js';
import { useObservable } from './state/store.js';
import { Home } from './views/home.js';
import { LoginView } from './views/login.js';
import { MorePlaces } from './views/more.js';

interface ViewProps {
  id: string;
  query: URLSearchParams;
}
type ViewComponent = ComponentType<ViewProps>;

/** Views loaded when first shown. Home, login and more come with the page. */
const VIEWS: Partial<Record<PagePlace, () => Promise<ViewComponent>>> = {
  home: async () => Home,
  login: async () => Home,
  knowledge: async () => (await import('./views/knowledge.js')).KnowledgeView,
  source: async () => (await import('./views/source.js')).SourceView,
  more: async () => MorePlaces,
  device: async () => (await import('./views/device.js')).Device,
  approvals: async () => (await import('./views/approvals.js')).Approvals,
  approval: async () => (await import('./views/approval.js')).ApprovalView,
  chats: async () => (await import('./views/chats.js')).Chats,
  chat: async () => (await import('./views/chat.js')).ChatView,
  agents: async () => (await import('./views/agents.js')).Agents,
  agent: async () => (await import('./views/agent.js')).AgentView,
  executions: async () => (await import('./views/executions.js')).Executions,
  execution: async () => (await import('./views/execution.js')).ExecutionView,
  notifications: async () => (await import('./views/notifications.js')).Notifications,
  operations: async () => (await import('./views/operations.js')).Operations,
  operation: async () => (await import('./views/operation.js')).OperationView,
  tasks: async () => (await import('./views/tasks.js')).Tasks,
  task: async () => (await import('./views/task.js')).TaskPage,
  pipelines: async () => (await import('./views/pipelines.js')).Pipelines,
  run: async () => (await import('./views/run.js')).RunPage,
  recurringTasks: async () => (await import('./views/recurringtasks.js')).RecurringTasks,
  recurringTask: async () => (await import('./views/recurringtask.js')).RecurringTaskPage,
  mail: async () => (await import('./views/mail.js')).MailView,
  message: async () => (await import('./views/message.js')).MessageView,
  memories: async () => (await import('./views/memories.js')).MemoryList,
  memory: async () => (await import('./views/memory.js')).MemoryPage,
};

/** The login if nobody is logged in, else the view of the current place. */
export const BrowserPage = () => {
  const who = useObservable(session);
  const { name, id, query } = useObservable(route);
  const [error, setError] = useState<unknown>(null);
  useEffect(() => {
    readMe().catch(setError);
  }, []);
  if (who === 'unknown') {
    if (error === null) return <LoadingNote what="Loading" />;
    return <Failure error={asRequestError(error)} retry={() => location.reload()} />;
  }
  if (who === null) {
    if (name !== 'unknown') return <LoginView />;
    return (
      <main class="login" id="main">
        <NotFound />
      </main>
    );
  }
  return (
    <Layout me={who} place={name}>
      {name === 'unknown' ? (
        <NotFound />
      ) : (
        <LoadedView key={`${name} ${id}`} name={name} id={id} query={query} />
      )}
    </Layout>
  );
};

const loaded = new Map<PagePlace, ViewComponent>();

const LoadedView = ({ name, id, query }: ViewProps & { name: PagePlace }) => {
  const [view, setView] = useState<{ of: ViewComponent | undefined }>({ of: loaded.get(name) });
  const [hasFailed, setFailed] = useState(false);
  const load = useCallback(() => {
    if (loaded.has(name)) return;
    VIEWS[name]?.().then(
      (found) => {
        loaded.set(name, found);
        setFailed(false);
        setView({ of: found });
      },
      () => setFailed(true),
    );
  }, [name]);
  useEffect(() => {
    if (name === 'login') go('/', 'replace');
    load();
  }, [name, load]);
  if (hasFailed) return <ViewLoadFailure retry={load} />;
  if (!view.of) return <LoadingNote what="Loading" />;
  return <view.of id={id} query={query} />;
};

const NotFound = () => (
  <>
    <Heading title="Not found" />
    <p>
      This page does not exist. <a href="/">Home</a>
    </p>
  </>
);
