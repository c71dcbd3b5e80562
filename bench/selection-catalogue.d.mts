/** Types of the sample catalogue, which benchmarks and tests share. */
import type { UnitDefinition } from '../src/compose/surface/unit.ts';

export function sampleCatalogue(size: number): UnitDefinition[];
export function labelledTasks(): [task: string, unit: string][];
