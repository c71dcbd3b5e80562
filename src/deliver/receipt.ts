/** What was delivered, in the form that the record keeps. */
import { jsonDigest } from '../digest.ts';
import type { DeliveryPlan, Receipt } from '../protocol/delivery.ts';

/** The receipt of a plan that was carried out on the program of a version. It holds no text and no value of a variable. */
export function receiptOf(plan: DeliveryPlan, version: string | null): Receipt {
  const [used] = plan.controls;
  if (used === undefined) throw new TypeError('A plan names the control of its intent first.');
  return {
    harness: plan.harness,
    version,
    intent: plan.intent,
    fidelity: plan.fidelity,
    control: used.control,
    transport: used.transport,
    bytes: used.bytes ?? 0,
    sha256: used.sha256 ?? '',
    role: plan.cell?.position?.role ?? null,
    cell: plan.cell,
    residue: plan.residue,
    controls: plan.controls,
    plan: jsonDigest(plan),
    notices: plan.notices,
  };
}
