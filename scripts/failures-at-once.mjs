// Vitest's reporter of failures when they happen, so that a run that is stopped has told them. The default one tells them at its end.

export default class FailuresAtOnce {
  onTestCaseResult(test) {
    const { state, errors = [] } = test.result()
    if (state === 'failed') tell(test.module, test.fullName, errors)
  }

  onTestSuiteResult(suite) {
    tell(suite.module, suite.fullName, suite.errors())
  }

  onTestModuleEnd(module) {
    tell(module, 'the file', module.errors())
  }
}

function tell({ relativeModuleId }, name, errors) {
  for (const { message, stack } of errors) {
    const lines = (stack ?? message).split('\n').filter((line) => !line.includes('node_modules'))
    console.log(`failed at ${new Date().toISOString()}: ${relativeModuleId} > ${name}\n${lines.join('\n')}\n`)
  }
}
