import type { UseCase } from './catalogue.js';

export interface PlannedFile {
  url: string;
  /** Name in the folder of the capability. */
  path: string;
  /** null: not known before the server is asked. */
  bytes: number | null;
  sha256: string | null;
}

export interface PlannedLicence {
  name: string;
  url: string | null;
  /** True if a user must accept its terms. */
  mustAccept: boolean;
}

export interface PlanFacts {
  /** Long form of the id: `gguf:qwen3-4b:Q4_K_M`. */
  id: string;
  slug: string;
  kind: 'model' | 'engine' | 'language';
  name: string;
  version: string | null;
  bytes: number | null;
  licence: PlannedLicence | null;
  /** Origin of the files, for display. */
  source: string;
  useCases: UseCase[];
  /** Slugs of required capabilities. */
  needs: string[];
}

/** Stored with the operation. */
export type InstallPlan =
  | (PlanFacts & { via: 'download'; files: PlannedFile[]; contextWindow: number | null })
  | (PlanFacts & { via: 'npm' })
  | (PlanFacts & { via: 'ollama'; model: string; contextWindow: number | null });
export interface PlanRefusal {
  field: string;
  fault: string;
  /** True if the name is unknown, so that a suggestion may help. */
  isUnknown?: boolean;
}

export interface InstallRequest {
  id: string;
  url?: string | undefined;
  sha256?: string | undefined;
}
