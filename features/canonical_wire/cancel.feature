@0.3
Feature: Cancellation
  A notification that names a running request. The request still gets its one answer; anything else is left alone.

  @EXT03-CANCEL-001 @EXT03-CANCEL-002
  Scenario: A running call is cancelled
    Given the extension is ready
    And a call is running
    When the host cancels the running call
    Then the running call is answered
    And the extension stays silent and goes on serving

  @EXT03-CANCEL-003
  Scenario: A cancelled call is answered in good time
    Given the extension is ready
    And a call is running
    When the host cancels the running call
    Then the extension answers with a result or the error request_cancelled

  @EXT03-CANCEL-002 @EXT03-ORDER-006
  Scenario: A call is cancelled twice
    Given the extension is ready
    And a call is running
    When the host sends the line {"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":«running»}}
    And the host sends the line {"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":«running»,"reason":"again"}}
    Then the running call is answered
    And the extension stays silent and goes on serving

  @EXT03-CANCEL-002
  Scenario: A call is cancelled at once
    Given the extension is ready
    When the host makes the sample call
    And the host cancels the call
    Then the extension answers with a result or the error request_cancelled
    And the extension stays silent and goes on serving

  @EXT03-CANCEL-004
  Scenario: A cancellation without effect
    Given the extension is ready
    Then each of these lines is met with silence
      | {"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":1}}        |
      | {"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":77}}       |
      | {"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":"nobody"}} |

  @EXT03-CANCEL-005
  Scenario: An id that was named by an earlier cancellation
    Given the extension is ready
    When the host sends the line {"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":88}}
    And the host sends the line {"id":88,"jsonrpc":"2.0","method":"tool/call","params":{"arguments":«arguments»,"context":«context»,"name":«tool»}}
    Then the extension answers with a result

  @EXT03-CANCEL-005
  Scenario: A running call has an id that an earlier cancellation has named
    Given the extension is ready
    When the host cancels the next call
    And the host makes the slow call
    Then the running call is undisturbed

  @EXT03-CANCEL-005
  Scenario: Every call has an id that an earlier cancellation has named
    Given the extension is ready
    When the host makes every call under a cancelled id
    Then the extension stays silent and goes on serving

  @EXT03-CANCEL-006
  Scenario: The string of an id is another id
    Given the extension is ready
    And a call is running
    When the host sends the line {"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":"«running»"}}
    Then the running call is undisturbed

  @EXT03-CANCEL-007
  Scenario: A cancellation with bad params
    Given the extension is ready
    And a call is running
    Then each of these lines is met with silence
      | {"jsonrpc":"2.0","method":"$/cancelRequest","params":{}}                                          |
      | {"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":null}}                                 |
      | {"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":«running»,"why":"extra"}}              |
      | {"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":«running»,"reason":null}}              |
      | {"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":«running»,"reason":"«repeat 4097 r»"}} |
      | {"jsonrpc":"2.0","method":"$/cancelRequest","params":[]}                                          |

  @EXT03-CANCEL-008
  Scenario: Another running call is left alone
    Given the extension is ready
    And a call is running
    And a call is running
    When the host cancels the running call
    And the running call is answered
    Then the running call is undisturbed

  @EXT03-CANCEL-009
  Scenario: An extension cancels only what it asked
    Given the extension is ready
    When the host has an ordinary conversation
    Then no frame breaks a rule of this scenario
