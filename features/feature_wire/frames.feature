@0.1 @0.2 @0.4
Feature: Frames
  One JSON object a line. A writer is strict: UTF-8, compact, one line feed. A reader is tolerant of what JSON tolerates.

  @EXT04-FRAME-001 @EXT04-FRAME-002 @EXT04-FRAME-003 @EXT04-FRAME-004 @EXT04-FRAME-008 @EXT04-FRAME-009
  Scenario: A conversation from initialize to shutdown
    Given the extension is ready
    When the host has an ordinary conversation
    And the host asks for shutdown
    And the extension answers with a result
    Then no frame breaks a rule of this scenario

  @EXT04-FRAME-004
  Scenario: A refusal that has half a line to repeat
    Given the extension is ready
    When the host sends the line {"id":«id»,"jsonrpc":"2.0","method":"«repeat 700000 m»","params":{}}
    And the extension answers with an error
    Then no frame breaks a rule of this scenario

  @EXT04-FRAME-005
  Scenario: A line in another legal spelling
    Given the extension is ready
    Then each of these lines is answered with the error unknown_method
      | { "id" : «id» , "jsonrpc" : "2.0" , "method" : "conform/probe" , "params" : { } }                    |
      | «hex 20 09»{"id":«id»,"jsonrpc":"2.0","method":"conform/probe","params":{"k":[0,«hex 09»1]}}«hex 20» |
      | {"id":«id»,"jsonrpc":"2.0","method":"conform/probe","params":{}}«hex 0D»                             |
      | {"id":«id»,"jsonrpc":"2.0","method":"conform/probe","params":{"n":[1.5,2e3,-0]}}                     |
      | {"params":{},"method":"conform/probe","jsonrpc":"2.0","id":«id»}                                     |
      | {"id":«id»,"jsonrpc":"2.0","method":"conform\/probe","params":{}}                                    |
      | {"id":«id»,"jsonrpc":"2\u002E0","method":"\u0063onform/probe","params":{"k":"\ud83d\udc27\u00e9"}}   |
      | {"\u0069d":«id»,"jsonrpc":"2.0","m\u0065thod":"conform/probe","params":{}}                           |

  @EXT04-FRAME-005
  Scenario: Blank lines
    Given the extension is ready
    When the host sends the bytes «hex 0A 0D 0A 0A»
    Then the extension stays silent and goes on serving

  @EXT04-FRAME-006
  Scenario: A line as long as a line may be
    Given the extension is ready
    When the host sends the line {"id":«id»,"jsonrpc":"2.0","method":"conform/probe","params":{"pad":"«fill max»"}}
    Then the extension answers with the error unknown_method

  @EXT04-FRAME-007
  Scenario: A line that arrives in pieces
    Given the extension is ready
    When the host sends the bytes {"id":«id»,"jsonrpc":"2.0","method":"conform/probe"}«hex 0A»{"jsonrpc":"2.0","method":"conform/«hex C3»
    And the extension answers with the error unknown_method
    And the host sends the bytes «hex A9»t«hex C3 A9»","id":«id»,"params":{}}«hex 0A»
    Then the extension answers with the error unknown_method

  @EXT04-FRAME-007
  Scenario: Lines that arrive together
    Given the extension is ready
    When the host sends the bytes {"id":«id»,"jsonrpc":"2.0","method":"conform/one"}«hex 0A»{"id":«id»,"jsonrpc":"2.0","method":"conform/two"}«hex 0A»
    Then the extension answers with the error unknown_method

  @EXT04-FRAME-007
  Scenario: Characters that end a line elsewhere
    Given the extension is ready
    Then each of these lines is answered with the error unknown_method
      | {"id":«id»,"jsonrpc":"2.0","method":"conform/probe","params":{"k":"a«hex E2 80 A8»b«hex E2 80 A9»c"}} |
      | {"id":«id»,"jsonrpc":"2.0","method":"conform/probe","params":{"k":"a«hex C2 85»b«hex 7F»c"}}          |
      | {"id":«id»,«hex 0D»"jsonrpc":"2.0","method":"conform/probe",«hex 0D»"params":{}}                      |

  @EXT04-FRAME-010
  Scenario: A line one byte too long
    Given the extension is ready
    When the host sends the line {"id":«id»,"jsonrpc":"2.0","method":"conform/probe","params":{"pad":"«fill max+1»"}}
    Then the extension exits
