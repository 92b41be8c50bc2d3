import { resource } from '../kernel/route.js';
import { capabilities } from './contract.js';
import type { HardwareReport } from './hardware.js';
import { capabilitiesOf } from './list.js';
import {
  beginInstallation,
  beginMeasuring,
  beginVerifying,
  type CapabilitiesDeps,
  removeCapability,
} from './service.js';

interface CapabilitiesRoutesDeps {
  service: CapabilitiesDeps;
  report: HardwareReport;
}

export const capabilitiesResource = ({ service: deps, report }: CapabilitiesRoutesDeps) =>
  resource('capabilities', capabilities, {
    list: async ({ query: { kind } }, { role }) => {
      const all = await capabilitiesOf(await deps.survey.known());
      const found = all.filter((each) => kind === undefined || each.kind === kind);
      const shown = found.map((each) => (role === 'admin' ? each : { ...each, path: null }));
      return { capabilities: shown };
    },
    hardware: async ({ query }, { role }) => {
      const found = await report(query);
      const { catalogue } = found;
      if (role === 'admin' || catalogue.source === 'built in') return found;
      return { ...found, catalogue: { ...catalogue, source: 'another one', fault: null } };
    },
    install: ({ body }, by) => beginInstallation(deps, body, by),
    measure: ({ body }, by) => beginMeasuring(deps, body, by),
    verify: ({ slug }, by) => beginVerifying(deps, slug, by),
    delete: ({ slug, query: { force = false } }, by) =>
      removeCapability(deps, { slug, isForced: force }, by),
  });
