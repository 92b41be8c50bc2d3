import { resource } from '../kernel/route.js';
import { type Capability, capabilities } from './contract.js';
import type { HardwareReport } from './hardware.js';
import { buildCapabilityList, shownSource } from './list.js';
import { removeCapability } from './removal.js';
import {
  beginInstallation,
  beginMeasuring,
  beginVerifying,
  type CapabilitiesDeps,
} from './service.js';

interface CapabilitiesRoutesDeps {
  service: CapabilitiesDeps;
  report: HardwareReport;
}

export const capabilitiesResource = ({ service: deps, report }: CapabilitiesRoutesDeps) =>
  resource('capabilities', capabilities, {
    list: async ({ query: { kind } }, { role }) => {
      const known = await deps.survey.known();
      const all = await buildCapabilityList(known);
      const found = all.filter((each) => kind === undefined || each.kind === kind);
      const source = shownSource(known);
      if (role === 'admin') return { capabilities: found, source };
      const shown = found.map((each) => withoutPaths(each, source !== null));
      return { capabilities: shown, source: source && { ...source, path: null } };
    },
    hardware: async ({ query }, { role }) => {
      const found = await report(query);
      const { catalogue } = found;
      if (role === 'admin') return found;
      const source = catalogue.source === 'built in' ? catalogue.source : 'another one';
      return { ...found, catalogue: { ...catalogue, source, fault: null } };
    },
    install: ({ body }, by) => beginInstallation(deps, body, by),
    measure: ({ body }, by) => beginMeasuring(deps, body, by),
    verify: ({ slug }, by) => beginVerifying(deps, slug, by),
    delete: ({ slug, query: { force = false } }, by) =>
      removeCapability(deps, { slug, isForced: force }, by),
  });

const withoutPaths = ({ install, ...each }: Capability, isOffline: boolean): Capability => ({
  ...each,
  path: null,
  install: install && isOffline ? { ...install, source: 'a folder of this machine' } : install,
});
