/** Type-checks the TypeScript of the pages against the sources, without writing a file. */
import { dirname, join, resolve } from 'node:path';
import ts from 'typescript';
import type { Fence } from './docs-fences.ts';

/** One sentence for each type error, with its place in the page. */
export function typeFaults(fences: readonly Fence[]): string[] {
  // Each fence is a file beside its page's root, so that packages are found as any file of the project finds them; blank
  // lines before it make its line numbers those of the page.
  const files = new Map(
    fences.map((fence) => [
      resolve(`${fence.page.replaceAll('/', '-')}-${fence.line}.ts`),
      { fence, text: '\n'.repeat(fence.line - 1) + fence.code },
    ]),
  );
  const options = optionsOfDocs();
  const disk = ts.createCompilerHost(options);
  const host: ts.CompilerHost = {
    ...disk,
    fileExists: (path) => files.has(path) || disk.fileExists(path),
    readFile: (path) => files.get(path)?.text ?? disk.readFile(path),
    getSourceFile: (path, language, ...rest) => {
      const file = files.get(path);
      return file === undefined
        ? disk.getSourceFile(path, language, ...rest)
        : ts.createSourceFile(path, file.text, language, true);
    },
  };
  const program = ts.createProgram([...files.keys()], options, host);
  return [...files].flatMap(([path, { fence }]) => {
    const source = program.getSourceFile(path);
    const found = [...program.getSyntacticDiagnostics(source), ...program.getSemanticDiagnostics(source)];
    return found.map(({ start, messageText }) => {
      const line = (source?.getLineAndCharacterOfPosition(start ?? 0).line ?? 0) + 1;
      return `${fence.page}:${line}: ${ts.flattenDiagnosticMessageText(messageText, ' ')}`;
    });
  });
}

function optionsOfDocs(): ts.CompilerOptions {
  const file = resolve('tsconfig.json');
  const { config } = ts.readConfigFile(file, ts.sys.readFile);
  const { options } = ts.parseJsonConfigFileContent(config, ts.sys, dirname(file));
  return {
    ...options,
    // What a user imports is the sources as they are, not what was built last.
    paths: {
      writ: [join(dirname(file), 'src/index.ts')],
      'writ/mcp': [join(dirname(file), 'src/native/mcp/mcp-servers.ts')],
      'writ/ai-sdk': [join(dirname(file), 'src/native/model/ai-sdk-model.ts')],
    },
    // A page shows how a value is made; what is done with it is the reader's.
    noUnusedLocals: false,
  };
}
