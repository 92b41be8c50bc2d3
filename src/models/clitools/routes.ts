import { resource } from '../../kernel/route.js';
import type { CliTools } from '../../providers/clitools/clitools.js';
import { clitools } from './contract.js';

export const clitoolsResource = ({ cliTools }: { cliTools: CliTools }) =>
  resource('clitools', clitools, {
    status: async () => ({ tools: await cliTools.status() }),
    quota: async () => ({ quotas: cliTools.quotas() }),
  });
