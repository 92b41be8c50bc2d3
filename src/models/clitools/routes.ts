import { resource } from '../../kernel/route.js';
import type { CliTools } from '../../providers/clitools/clitools.js';
import { clitools } from './contract.js';

/**
 * Routes for command-line tools. The tools and their logins belong to the installation, and every
 * user may see their state.
 */
export const clitoolsResource = ({ cliTools }: { cliTools: CliTools }) =>
  resource('clitools', clitools, {
    status: async () => ({ tools: await cliTools.status() }),
    quota: async () => ({ quotas: cliTools.quotas() }),
  });
