import type { ScreenPage } from './page.js';
import { agentPage, agentsPage } from './screens/agents/screen.js';
import { approvalsPage } from './screens/approvals/screen.js';
import { browsePage } from './screens/browse/screen.js';
import { executionPage } from './screens/execution/screen.js';
import { hookPage, hooksPage } from './screens/hooks/screen.js';
import { inboxPage } from './screens/inbox/screen.js';
import { logsPage } from './screens/logs/screen.js';
import { modelsPage } from './screens/models/screen.js';
import { overviewPage } from './screens/overview/screen.js';
import { teamPage } from './screens/team/screen.js';
import { tunnelPage } from './screens/tunnel/screen.js';
import { vaultPage } from './screens/vault/screen.js';
import type { PageName } from './state/places.js';
import type { State } from './state/state.js';
import { lookOf } from './state/ui.js';

/** Every page of the desk. */
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
};

/** Returns the page on top. */
export const screenPage = (state: State): ScreenPage => pages[lookOf(state.ui).page];
