import { isReserved, SLUG } from './catalogue.js';
import type { InstallPlan, InstallRequest, PlannedFile, PlanRefusal } from './installplan.js';
import { LLAMA } from './packages.js';
import { downloadUrlFault, redactUrl } from './remotefilefacts.js';

export const planAddress = (
  { id, url, sha256 }: InstallRequest & { url: string },
  name: string,
): InstallPlan | PlanRefusal => {
  const slug = name.toLowerCase();
  if (!SLUG.test(slug)) {
    return {
      field: 'id',
      fault: 'must be gguf:<name>. The name may contain letters, digits and . _ -',
    };
  }
  if (isReserved(slug)) return { field: 'id', fault: `${slug} is a reserved name` };
  const isFile = !URL.canParse(url) || url.startsWith('file:');
  const fault = isFile ? LOCAL_FILE : downloadUrlFault(url);
  if (fault !== null) return { field: 'url', fault };
  if (sha256 === undefined) return { field: 'sha256', fault: 'is required if url is set' };
  return {
    via: 'download',
    id,
    slug,
    kind: 'model',
    name,
    version: null,
    bytes: null,
    licence: null,
    source: redactUrl(url),
    useCases: [],
    needs: [LLAMA],
    files: fileParts({ url, bytes: null, sha256 }),
    contextWindow: null,
  };
};

const LOCAL_FILE =
  'must be an https URL. To use a file of the machine of the daemon, copy it to capabilities/<name>/model.gguf in the data folder and run: adjutant models create <name> --provider llama --model-id <name>';

const PART = /-00001-of-(\d{5})\.gguf$/;
const MAX_PARTS = 200;

/** The checksums of all parts but the first are requested from the server. */
export const fileParts = ({ url, bytes, sha256 }: Part): PlannedFile[] => {
  const { pathname } = new URL(url);
  const count = Number(PART.exec(pathname)?.[1] ?? 1);
  if (count < 2 || count > MAX_PARTS) {
    return [{ url, path: 'model.gguf', bytes, sha256 }];
  }
  return Array.from({ length: count }, (_, at) => {
    const part = `-${String(at + 1).padStart(5, '0')}-of-${String(count).padStart(5, '0')}.gguf`;
    return {
      url: withPath(url, pathname.replace(PART, part)),
      path: `model${part}`,
      bytes: at === 0 ? bytes : null,
      sha256: at === 0 ? sha256 : null,
    };
  });
};

const withPath = (url: string, pathname: string): string => {
  const changed = new URL(url);
  changed.pathname = pathname;
  return changed.href;
};

interface Part {
  url: string;
  bytes: number | null;
  sha256: string | null;
}
