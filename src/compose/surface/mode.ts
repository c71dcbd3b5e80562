/** The two ways in which a surface is chosen. */
export const surfaceModes = ['compiled', 'all_tools'] as const;
/** `compiled` chooses by what the request says; `all_tools` takes everything that is allowed. */
export type SurfaceMode = (typeof surfaceModes)[number];
