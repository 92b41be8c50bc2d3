import type { ScreenPage } from './page.js';
import { agentPage } from './screens/agents/agent.js';
import { agentsPage } from './screens/agents/agents.js';
import { approvalsPage } from './screens/approvals.js';
import { browsePage } from './screens/browse.js';
import { capabilitiesPage } from './screens/capabilities/capabilities.js';
import { capabilityPage } from './screens/capabilities/capability.js';
import { executionPage } from './screens/hooks/execution.js';
import { hookPage } from './screens/hooks/hook.js';
import { hooksPage } from './screens/hooks/hooks.js';
import { inboxPage } from './screens/inbox.js';
import { answerPage } from './screens/knowledge/answer.js';
import { chunkPage } from './screens/knowledge/chunk.js';
import { documentPage } from './screens/knowledge/document.js';
import { knowledgePage } from './screens/knowledge/knowledge.js';
import { reportPage } from './screens/knowledge/report.js';
import { logsPage } from './screens/logs.js';
import { mailPage } from './screens/mail/mail.js';
import { messagePage } from './screens/mail/message.js';
import { threadPage } from './screens/mail/messages.js';
import { sentMailPage } from './screens/mail/sentmail.js';
import { modelsPage } from './screens/models.js';
import { operationPage } from './screens/operations/operation.js';
import { operationsPage } from './screens/operations/operations.js';
import { orgPage } from './screens/orgs/org.js';
import { overviewPage } from './screens/overview/overview.js';
import { runPage } from './screens/pipelines/run.js';
import { pipelinesPage, runsPage } from './screens/pipelines/runs.js';
import { taskPage } from './screens/tasks/task.js';
import { tasksPage } from './screens/tasks/tasks.js';
import { teamPage } from './screens/team.js';
import { tunnelPage } from './screens/tunnel.js';
import { vaultPage } from './screens/vault.js';
import type { PageName } from './state/locations.js';
import type { State } from './state/state.js';
import { topView } from './state/ui.js';

export const pages: Record<PageName, ScreenPage> = {
  overview: overviewPage,
  hooks: hooksPage,
  hook: hookPage,
  execution: executionPage,
  agents: agentsPage,
  agent: agentPage,
  browse: browsePage,
  approvals: approvalsPage,
  inbox: inboxPage,
  vault: vaultPage,
  models: modelsPage,
  tunnel: tunnelPage,
  team: teamPage,
  logs: logsPage,
  knowledge: knowledgePage,
  chunk: chunkPage,
  answer: answerPage,
  document: documentPage,
  report: reportPage,
  operations: operationsPage,
  operation: operationPage,
  tasks: tasksPage,
  task: taskPage,
  pipelines: pipelinesPage,
  runs: runsPage,
  run: runPage,
  capabilities: capabilitiesPage,
  capability: capabilityPage,
  mail: mailPage,
  message: messagePage,
  thread: threadPage,
  sentmail: sentMailPage,
  org: orgPage,
};

export const screenPage = (state: State): ScreenPage => pages[topView(state.ui).page];
