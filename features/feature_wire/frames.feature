@0.1 @0.2 @0.4
Feature: Frames
  One JSON object a line. The rules of writing bind every frame of an extension and are judged in every scenario.

  @EXT04-FRAME-001 @EXT04-FRAME-002 @EXT04-FRAME-003 @EXT04-FRAME-004 @EXT04-FRAME-008 @EXT04-FRAME-009
  Scenario: A conversation from initialize to shutdown
    Given the extension is ready
    When the host has an ordinary conversation
    And the host asks for shutdown
    And the extension answers with a result
    And the extension exits
    Then no frame breaks a rule of this scenario

  @EXT04-FRAME-005
  Scenario: A line in another spelling than the compact one
    Given the extension is ready
    Then each of these lines is answered with the error unknown_method
      | { "jsonrpc": "2.0", "id": «id», "method": "conform/probe", "params": { } }                              |
      | {"jsonrpc":"2.0","id":«id»,"method":"conform/probe","params":{}}«hex 0D»                                |
      | «hex 20 09»{"jsonrpc":"2.0","id":«id»,"method":"conform/probe","params":{}}«hex 20»                     |
      | {"params":{},"method":"conform/probe","jsonrpc":"2.0","id":«id»}                                        |
      | {"jsonrpc":"2.0","id":«id»,"method":"conform\/probe","params":{"k":"\u00e9\ud83d\udc27"}}               |
      | {"jsonrpc":"2.0","id":«id»,"method":"conform/probe","params":{"n":[1.5,2e3,-0]}}                        |
      | {"jsonrpc":"2.0","id":«id»,"method":"conform/probe","params":{"k":"«hex E2 80 A8»«hex C2 85»«hex 7F»"}} |

  @EXT04-FRAME-005
  Scenario: A blank line is passed over
    Given the extension is ready
    When the host sends the bytes «hex 0A 20 0A 0D 0A»
    Then the extension stays silent and goes on serving

  @EXT04-FRAME-006
  Scenario: A line of the largest size
    Given the extension is ready
    When the host sends the line {"jsonrpc":"2.0","id":«id»,"method":"conform/probe","params":{"pad":"«fill max»"}}
    Then the extension answers with the error unknown_method

  @EXT04-FRAME-007
  Scenario: Two requests arrive together
    Given the extension is ready
    When the host sends the bytes {"jsonrpc":"2.0","id":70,"method":"conform/probe","params":{}}«hex 0A»{"jsonrpc":"2.0","id":«id»,"method":"conform/probe","params":{}}«hex 0A»
    Then the extension answers with the error unknown_method

  @EXT04-FRAME-007
  Scenario: A request arrives in pieces
    Given the extension is ready
    When the host sends the bytes {"jsonrpc":"2.0","id":«id»,"method":"conform/pr
    And the host sends the bytes obe","params":{"k":"«hex E2 82»
    And the host sends the bytes «hex AC»"}}«hex 0A»
    Then the extension answers with the error unknown_method

  @EXT04-FRAME-007
  Scenario: A character straddles the pieces in which a pipe delivers a line
    Given the extension is ready
    When the host sends the line {"jsonrpc":"2.0","params":{"pad":"«repeat 65365 x»"},"id":"«repeat 85 €»","method":"conform/probe"}
    Then the extension answers with the error unknown_method

  @EXT04-FRAME-010
  Scenario: A line over the largest size
    Given the extension is ready
    When the host sends the line {"jsonrpc":"2.0","id":«id»,"method":"conform/probe","params":{"pad":"«fill max+1»"}}
    Then the extension ends without a word
